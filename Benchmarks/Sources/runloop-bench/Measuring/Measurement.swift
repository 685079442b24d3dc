internal import Foundation

/// A comparison of subjects that take turns in each round.
protocol Measurement {
    /// The subject that is measured, or that was measured last if the measurement failed.
    var stage: String { get }

    /// Measures each subject once, in a different order in each round.
    ///
    /// - Parameters:
    ///   - round: The number of the round, which is zero for the first round, and negative for the warm-up.
    ///   - session: The machine and the length of the measurement.
    /// - Throws: An error if a message was lost or arrived twice.
    mutating func measure(round: Int, in session: Session) throws

    /// Takes the measurements that are made only once, after all rounds.
    mutating func end(in session: Session) throws

    var remarks: [String] { get }
    var tables: [Table] { get }
    var charts: [Chart] { get }
    var failures: [String] { get }

    /// The rows of the table of targets.
    func targets(on machine: Machine) -> [TargetRow]
    /// The rows of the picture that `--svg` writes.
    var comparisons: [Comparison] { get }
}

extension Measurement {
    mutating func end(in session: Session) throws {}

    var remarks: [String] { [] }

    var charts: [Chart] { [] }

    var failures: [String] { [] }

    var comparisons: [Comparison] { [] }
}

extension Chapter {
    /// Runs the measurements of a family, one after the other.
    ///
    /// A measurement that fails ends with an entry in `failures`, and the next measurement starts.
    init(_ name: String, _ measurements: [any Measurement], in session: Session) {
        self.init(name: name)
        var measurements = measurements
        session.progress.begin(name)
        for index in measurements.indices {
            do {
                for round in -1..<session.rounds {
                    session.progress.step(
                        max(0, round) + index * session.rounds, of: measurements.count * session.rounds)
                    try measurements[index].measure(round: round, in: session)
                }
                try measurements[index].end(in: session)
            } catch {
                failures.append("\(name), \(measurements[index].stage): \(error)")
            }
        }
        for measurement in measurements {
            remarks += measurement.remarks
            tables += measurement.tables
            charts += measurement.charts
            targets += measurement.targets(on: session.machine)
            comparisons += measurement.comparisons
            failures += measurement.failures
        }
    }
}

extension Array {
    /// The elements in the order of their turns in a round.
    ///
    /// Each round begins with a different element, so that no subject is always the first.
    func turns(of round: Int) -> [Element] {
        let first = Swift.max(0, round) % Swift.max(1, count)
        return Array(self[first...] + self[..<first])
    }
}

/// The settings that every family of measurements shares.
struct Session {
    let machine: Machine
    /// True for a short run with rough figures.
    let isQuick: Bool
    /// The number of rounds.
    ///
    /// In each round, the subjects of a measurement take turns.
    let rounds: Int
    let progress: Progress

    /// The length of one measurement in one round.
    func length(_ usual: Duration, quick: Duration) -> Duration { isQuick ? quick : usual }
}

/// Reports the progress of a long measurement on standard error.
///
/// On a terminal, the progress is a single line that changes. Otherwise, it is one line for each stage.
final class Progress {
    private let isTerminal = isatty(STDERR_FILENO) == 1
    private var stage = ""

    /// Begins a stage.
    func begin(_ stage: String) {
        self.stage = stage
        if !isTerminal { write(stage + "\n") }
    }

    /// Shows the progress within the stage.
    func step(_ done: Int, of all: Int) {
        if isTerminal { write("\r\u{1B}[K\(stage): \(done) of \(all)") }
    }

    /// Removes the line.
    func end() {
        if isTerminal { write("\r\u{1B}[K") }
    }

    private func write(_ text: String) {
        FileHandle.standardError.write(Data(text.utf8))
    }
}
