internal import Foundation

/// The results of one run of the program.
struct Report: Codable {
    let machine: Machine
    var chapters: [Chapter] = []

    /// The targets of all families.
    var targets: [TargetRow] { chapters.flatMap(\.targets) }

    /// The reasons for the program to end with an error; empty if it succeeds.
    var failures: [String] {
        let missed = targets.filter(\.isFailure).map { "\($0.id) \($0.what): \($0.verdict.rawValue)" }
        return chapters.flatMap(\.failures) + missed
    }

    /// Every figure as JSON, under the keys that the tables use.
    func json() throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        return try encoder.encode(self)
    }

    /// Prints the report, and writes the files that were asked for.
    ///
    /// - Parameters:
    ///   - json: A file, or `-` for standard output; the text then goes to standard error.
    ///   - html: A file.
    /// - Throws: Why a file could not be written.
    func write(json: String?, html: String?) throws {
        let text = Data((TextReport(self).text + "\n").utf8)
        if json == "-" {
            FileHandle.standardError.write(text)
            FileHandle.standardOutput.write(try self.json() + Data("\n".utf8))
        } else {
            FileHandle.standardOutput.write(text)
        }
        if let json, json != "-" { try self.json().write(to: URL(filePath: json)) }
        if let html { try Data(HTMLReport(self).text.utf8).write(to: URL(filePath: html)) }
    }
}

/// The results of one family of measurements.
struct Chapter: Codable {
    /// The name of the family on the command line.
    let name: String
    /// Notes that a reader needs to understand the figures.
    var remarks: [String] = []
    var tables: [Table] = []
    var charts: [Chart] = []
    var targets: [TargetRow] = []
    /// What must not happen on any machine: a message was lost, a measurement could not be made.
    var failures: [String] = []
}

/// Figures of the same kind, one thing measured a row.
struct Table: Codable {
    let title: String
    let columns: [Column]
    var rows: [Row] = []

    /// Which of a row's figures is shown where.
    struct Column: Codable {
        let title: String
        let key: String
        let format: NumberFormat

        init(_ title: String, _ key: String, _ format: NumberFormat) {
            self.title = title
            self.key = key
            self.format = format
        }
    }

    /// One subject.
    struct Row: Codable {
        let name: String
        /// All figures, including those that no column shows.
        var figures: [String: Double] = [:]
    }
}

/// The data of a picture.
enum Chart: Codable {
    case distributions(title: String, reading: String, series: [Distribution])
    case bars(title: String, reading: String, unit: String, groups: [BarGroup])
    case growth(title: String, reading: String, size: String, lines: [Line])

    /// What a subject is to the reader, told by colour.
    enum Role: String, Codable {
        /// A part of this package.
        case ours
        /// A limit of this machine, which the others are compared with.
        case yardstick
        /// A part of another library.
        case peer
    }

    /// The distribution of the times of all samples.
    struct Distribution: Codable {
        let name: String
        let role: Role
        /// Nanoseconds.
        let median, ninetyNinth: Double
        let bins: [Bin]
    }

    /// The share of samples in one step of a logarithmic scale.
    struct Bin: Codable {
        /// The start of the step, in nanoseconds.
        let start: Double
        let share: Double
    }

    /// Bars that belong together.
    struct BarGroup: Codable {
        let name: String
        let role: Role
        let bars: [Bar]
    }

    /// One bar, with the range of half of its rounds.
    struct Bar: Codable {
        let name: String
        let value: Spread
    }

    /// The cost of something at each of several sizes.
    struct Line: Codable {
        let name: String
        let role: Role
        let points: [Point]
    }

    /// The cost at one size, in nanoseconds.
    struct Point: Codable {
        let size: Int
        let cost: Spread
    }
}
