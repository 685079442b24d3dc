internal import Foundation

/// All that a run of the program found.
struct Report: Codable {
    let machine: Machine
    var chapters: [Chapter] = []

    /// The rows of all families.
    var targets: [TargetRow] { chapters.flatMap(\.targets) }

    /// Why the program ends with an error; empty if it does not.
    var failures: [String] {
        let missed = targets.filter(\.isFailure).map { "\($0.id) \($0.what): \($0.verdict.rawValue)" }
        return chapters.flatMap(\.failures) + missed
    }

    /// For machines: every figure, under the names that the tables give them.
    func json() throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        return try encoder.encode(self)
    }

    /// Writes what was asked for where it was asked for.
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

/// What one family of measurements found.
struct Chapter: Codable {
    /// The family's name, as on the command line.
    let name: String
    /// What a reader must know to read the figures right.
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

    /// One thing measured.
    struct Row: Codable {
        let name: String
        /// All that was measured, also what no column shows.
        var figures: [String: Double] = [:]
    }
}

/// A picture, by its data.
enum Chart: Codable {
    case distributions(title: String, reading: String, series: [Distribution])
    case bars(title: String, reading: String, unit: String, groups: [BarGroup])
    case growth(title: String, reading: String, size: String, lines: [Line])

    /// What a subject is to the reader, told by colour.
    enum Role: String, Codable {
        /// This package's.
        case ours
        /// What the others are measured by.
        case yardstick
        /// Somebody else's.
        case peer
    }

    /// How often each length of time was seen.
    struct Distribution: Codable {
        let name: String
        let role: Role
        /// Nanoseconds.
        let median, ninetyNinth: Double
        let bins: [Bin]
    }

    /// The share of samples in one step of a logarithmic scale.
    struct Bin: Codable {
        /// Where the step begins, in nanoseconds.
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

    /// What something costs, for each of several sizes.
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
