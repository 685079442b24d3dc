internal import Foundation

/// The results of one run of the program.
struct Report: Codable {
    let machine: Machine
    var chapters: [Chapter] = []

    /// The targets of all families.
    var targets: [TargetRow] { chapters.flatMap(\.targets) }

    /// The reasons for the program to end with an error, which are empty on success.
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

    /// Prints the report, and writes the requested files.
    ///
    /// - Parameters:
    ///   - json: A file for all figures, or `-` for standard output. The text then goes to standard error.
    ///   - html: A file for the page.
    ///   - svg: A file for the picture. If no peer was measured, the file is not written, and standard error says so.
    /// - Throws: An error if a file cannot be written.
    func write(json: String?, html: String?, svg: String?) throws {
        let text = Data((TextReport(self).text + "\n").utf8)
        if json == "-" {
            FileHandle.standardError.write(text)
            FileHandle.standardOutput.write(try self.json() + Data("\n".utf8))
        } else {
            FileHandle.standardOutput.write(text)
        }
        if let json, json != "-" { try self.json().write(to: URL(filePath: json)) }
        if let html { try Data(HTMLReport(self).text.utf8).write(to: URL(filePath: html)) }
        guard let svg else { return }
        if let chart = ComparisonChart(self) {
            try Data(chart.text.utf8).write(to: URL(filePath: svg))
        } else {
            FileHandle.standardError.write(
                Data("--svg: nothing to draw. Run all, latency, throughput or notifications.\n".utf8))
        }
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
    /// The rows of the picture that `--svg` writes.
    var comparisons: [Comparison] = []
    /// Faults that must not happen on any machine: a message was lost, or a measurement failed.
    var failures: [String] = []
}

/// The time of a peer as a multiple of this package's time for the same work.
struct Comparison: Codable {
    /// The work, and the heading of the group in the picture.
    let title: String
    let peer: String
    /// The ratios of the rounds.
    let ratio: Spread
    /// The number of rounds.
    let rounds: Int

    /// Makes a comparison, or returns `nil` without a ratio.
    init?(_ title: String, _ peer: String, _ ratio: Spread?) {
        guard let ratio else { return nil }
        self.title = title
        self.peer = peer
        self.ratio = ratio
        rounds = ratio.count
    }
}

/// Figures of the same kind, with one row for each subject.
struct Table: Codable {
    let title: String
    let columns: [Column]
    var rows: [Row]

    init(title: String, columns: [Column], rows: [Row] = []) {
        self.title = title
        self.columns = columns.flatMap(\.withRange)
        self.rows = rows
    }

    /// A column, which shows one figure of each row.
    struct Column: Codable {
        let title: String
        let key: String
        let format: NumberFormat
        private var isRanged = false

        private enum CodingKeys: CodingKey { case title, key, format }

        init(_ title: String, _ key: String, _ format: NumberFormat) {
            self.title = title
            self.key = key
            self.format = format
        }

        /// A column for the median of the rounds, with two more columns for the quartiles.
        static func ranged(_ title: String, _ key: String, _ format: NumberFormat) -> Column {
            var column = Column(title, key, format)
            column.isRanged = true
            return column
        }

        fileprivate var withRange: [Column] {
            if !isRanged { return [self] }
            return [
                Column(title, key, format), Column("from", key + "Low", format),
                Column("to", key + "High", format),
            ]
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

    /// A bar chart of rates.
    ///
    /// - Parameters:
    ///   - title: The title.
    ///   - what: The things that a rate counts, in the plural.
    ///   - groups: The bars, in things a second.
    /// - Returns: The chart.
    static func rates(_ title: String, of what: String, groups: [BarGroup]) -> Chart {
        .bars(
            title: title,
            reading:
                "Longer is faster: millions a second of \(what). Bars are the medians of all rounds, and the thin "
                + "line spans half of the rounds.",
            unit: "M/s", groups: groups)
    }

    /// A chart of costs against sizes, on two logarithmic scales.
    ///
    /// - Parameters:
    ///   - title: The title.
    ///   - level: The meaning of a level line, as the end of a sentence.
    ///   - size: The name of the things that a size counts, in the plural.
    ///   - lines: The costs.
    /// - Returns: The chart.
    static func costs(_ title: String, level: String, size: String, lines: [Line]) -> Chart {
        .growth(
            title: title,
            reading:
                "Lower is faster, and a level line means that \(level). Both scales go up tenfold from line to line. "
                + "Points are the medians of all rounds, and the thin line spans half of the rounds.",
            size: size, lines: lines)
    }

    /// The relation of a subject to this package, shown by its colour.
    enum Role: String, Codable {
        /// A part of this package.
        case ours
        /// A limit of this machine, with which the other subjects are compared.
        case yardstick
        /// A part of another library.
        case peer
    }

    /// The distribution of the times of all samples.
    struct Distribution: Codable {
        let name: String
        let role: Role
        /// The median and the 99th percentile, in nanoseconds.
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

    /// The cost of an operation at several sizes.
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
