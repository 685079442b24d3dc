internal import ArgumentParser
internal import Foundation

/// Compares the figures of two runs, and fails if something became slower.
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
