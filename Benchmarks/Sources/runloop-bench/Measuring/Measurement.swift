internal import Foundation

/// Subjects that are compared, one of which takes its turn after the other in each round.
protocol Measurement {
    /// The subject that is measured, or that was measured last if the measurement failed.
    var stage: String { get }

    /// Gives each subject its turn, in another order each time.
    ///
    /// - Parameters:
    ///   - round: The number of the round from zero on, or less than zero for the warm-up.
    ///   - session: The machine and the length of the measurement.
    /// - Throws: An error if something was lost or arrived twice.
    mutating func measure(round: Int, in session: Session) throws

    /// Takes the measurements that are made only once, after all rounds.
    mutating func end(in session: Session) throws

    var remarks: [String] { get }
    var tables: [Table] { get }
    var charts: [Chart] { get }
    var failures: [String] { get }

    /// The rows of the table of targets.
    func targets(on machine: Machine) -> [TargetRow]
}

extension Measurement {
    mutating func end(in session: Session) throws {}

    var remarks: [String] { [] }

    var failures: [String] { [] }
}

extension Chapter {
    /// Takes the measurements of a family, one after the other.
    ///
    /// A part that fails ends, and says so; the others go on.
    init(_ name: String, _ parts: [any Measurement], in session: Session) {
        self.init(name: name)
        var parts = parts
        session.progress.begin(name)
        for index in parts.indices {
            do {
                for round in -1..<session.rounds {
                    session.progress.step(
                        max(0, round) + index * session.rounds, of: parts.count * session.rounds)
                    try parts[index].measure(round: round, in: session)
                }
                try parts[index].end(in: session)
            } catch {
                failures.append("\(name), \(parts[index].stage): \(error)")
            }
        }
        for part in parts {
            remarks += part.remarks
            tables += part.tables
            charts += part.charts
            targets += part.targets(on: session.machine)
            failures += part.failures
        }
    }
}

/// What every family of measurements is given.
struct Session {
    let machine: Machine
    /// True if rough figures are wanted soon.
    let isQuick: Bool
    /// The number of rounds.
    ///
    /// Each round takes all measurements in turn.
    let rounds: Int
    let progress: Progress

    /// The length of one measurement in one round.
    func length(_ usual: Duration, quick: Duration) -> Duration { isQuick ? quick : usual }
}

/// Reports the progress of a long measurement on standard error.
///
/// On a terminal this is a single line that changes, else one line for each stage.
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
