internal import ArgumentParser
internal import Foundation

/// The figures that differ between the reports of two runs by more than their noise.
///
/// A figure counts only if it was taken in rounds, so that its quartiles are known. A figure has changed if the ranges between the
/// quartiles do not overlap, and the medians differ by more than a given share. The load of the machine differs between runs, so
/// believe a change only if a second pair of runs shows it, too.
struct ReportComparison {
    /// A figure that differs.
    struct Change {
        /// The family, the table, the row and the column.
        let name: String
        let old, new: Range
        let format: NumberFormat
        /// The new median as a multiple of the old one, or its inverse for a rate: more than 1 is slower.
        let slowdown: Double

        /// The change on one line.
        ///
        /// For example, `latency: round trips, RunLoops, ÷ raw: 1.52 (1.50 to 1.55) → 1.93 (1.90 to 1.97), +27 %`.
        var text: String {
            let percent = Int(((new.median / old.median - 1) * 100).rounded())
            return "\(name): \(old.text(format)) → \(new.text(format)), \(percent < 0 ? "" : "+")\(percent) %"
        }
    }

    /// The median and the quartiles of a figure.
    struct Range {
        let median, low, high: Double

        /// Takes the figures of a key, or returns nil if the key has no range.
        init?(_ key: String, of row: Table.Row) {
            guard let median = row.figures[key], let low = row.figures[key + "Low"],
                let high = row.figures[key + "High"], median > 0, median.isFinite
            else { return nil }
            (self.median, self.low, self.high) = (median, low, high)
        }

        func text(_ format: NumberFormat) -> String {
            "\(format.text(median)) (\(format.text(low)) to \(format.text(high)))"
        }
    }

    /// The figures that became slower or faster, with the greatest change first.
    private(set) var slower: [Change] = []
    private(set) var faster: [Change] = []
    /// The number of figures that both reports have.
    private(set) var count = 0
    /// The figures of the old report that the new report lacks.
    private(set) var missing: [String] = []

    /// Compares two reports.
    ///
    /// - Parameters:
    ///   - old: The report of the run before a change.
    ///   - new: The report of the run after the change.
    ///   - share: The minimum difference of two medians that counts, as a share of the old median.
    init(_ old: Report, _ new: Report, share: Double) {
        // Times of two machines cannot be compared. Ratios within one run can be compared, more or less.
        let isSameMachine = old.machine.isComparable(with: new.machine)
        let after = Self.figures(of: new)
        for (name, before) in Self.figures(of: old).sorted(by: { $0.key < $1.key }) {
            guard isSameMachine || before.format == .ratio else { continue }
            guard let now = after[name] else {
                missing.append(name)
                continue
            }
            count += 1
            add(name, before, now, share)
        }
        slower.sort { $0.slowdown > $1.slowdown }
        faster.sort { $0.slowdown < $1.slowdown }
    }

    private mutating func add(_ name: String, _ before: Figure, _ now: Figure, _ share: Double) {
        let (old, new) = (before.range, now.range)
        let slowdown = before.isRate ? old.median / new.median : new.median / old.median
        let change = Change(name: name, old: old, new: new, format: before.format, slowdown: slowdown)
        let isApart = old.high < new.low || new.high < old.low
        if isApart && slowdown > 1 + share { slower.append(change) }
        if isApart && slowdown < 1 / (1 + share) { faster.append(change) }
    }

    private struct Figure {
        let range: Range
        let format: NumberFormat
        /// True if more is better.
        let isRate: Bool
    }

    /// All figures with a range, by name.
    private static func figures(of report: Report) -> [String: Figure] {
        var figures: [String: Figure] = [:]
        for chapter in report.chapters {
            for table in chapter.tables {
                // A greater ratio of rates is better, too.
                let hasRates = table.columns.contains { $0.format == .millions }
                for row in table.rows {
                    for column in table.columns {
                        guard let range = Range(column.key, of: row) else { continue }
                        figures["\(chapter.name): \(table.title), \(row.name), \(column.title)"] = Figure(
                            range: range, format: column.format,
                            isRate: column.format == .millions || column.format == .ratio && hasRates)
                    }
                }
            }
        }
        return figures
    }

    /// The comparison as text.
    var text: String {
        var lines = ["\(count) figures compared: \(slower.count) slower, \(faster.count) faster beyond noise"]
        lines += slower.map { "slower  \($0.text)" }
        lines += faster.map { "faster  \($0.text)" }
        lines += missing.map { "missing \($0)" }
        return lines.joined(separator: "\n")
    }
}

extension Machine {
    /// True if times of both machines can be compared: the same processors, the same kernel, and both programs optimised or not.
    func isComparable(with other: Machine) -> Bool {
        model == other.model && processors == other.processors && kernel == other.kernel
            && isOptimised == other.isOptimised
    }
}

/// Compares the figures of two runs, and fails if a figure became slower.
struct CompareCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "compare", abstract: "Say what became slower beyond noise between two runs.",
        discussion:
            "Both files are those of --json. Use the same machine, with the same load, and the default rounds: with "
            + "--quick the noise hides much. Times are compared only if both runs were on the same machine, quotients "
            + "always. Repeat both runs before you believe a change. Exits with 1 if something became slower."
    )

    @Argument(help: "The file of the run before a change.")
    var old: String

    @Argument(help: "The file of the run after it.")
    var new: String

    @Option(help: "The least difference of two medians that counts, in percent.")
    var threshold = 5.0

    func validate() throws {
        if !(threshold >= 0) { throw ValidationError("--threshold must be at least 0") }
    }

    func run() throws {
        let before = try Self.report(old)
        let after = try Self.report(new)
        if !before.machine.isComparable(with: after.machine) {
            print("The machines differ, so only quotients are compared:")
            for machine in [before.machine, after.machine] { print("  \(machine.model), \(machine.summary)") }
        }
        let comparison = ReportComparison(before, after, share: threshold / 100)
        print(comparison.text)
        if comparison.count == 0 {
            throw ValidationError("the two files have no figure in common that was taken in rounds")
        }
        if !comparison.slower.isEmpty { throw ExitCode.failure }
    }

    private static func report(_ path: String) throws -> Report {
        try JSONDecoder().decode(Report.self, from: Data(contentsOf: URL(filePath: path)))
    }
}
