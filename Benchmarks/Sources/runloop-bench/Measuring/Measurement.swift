internal import Foundation

/// A part of a family: subjects that take turns in its rounds.
protocol Measurement {
    /// What is measured, or was when it failed.
    var stage: String { get }

    /// Lets each subject take its turn, each time in another order.
    ///
    /// - Parameters:
    ///   - round: Which round it is, from zero; less than zero to warm up.
    ///   - session: Where, and for how long.
    /// - Throws: What was lost or came twice.
    mutating func measure(round: Int, in session: Session) throws

    /// Does what is done once, after all rounds.
    mutating func end(in session: Session) throws

    var remarks: [String] { get }
    var tables: [Table] { get }
    var charts: [Chart] { get }
    var failures: [String] { get }

    /// The targets' rows.
    func targets(on machine: Machine) -> [TargetRow]
}

extension Measurement {
    mutating func end(in session: Session) throws {}

    var remarks: [String] { [] }

    var failures: [String] { [] }
}

extension Chapter {
    /// Takes the measurements of a family whose parts are measured one after the other.
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
    /// Where we run.
    let machine: Machine
    /// Whether a rough answer soon is wanted.
    let isQuick: Bool
    /// How often each measurement is repeated, interleaved with all others.
    let rounds: Int
    /// Says how far we are.
    let progress: Progress

    /// How long one measurement of one round lasts.
    func length(_ usual: Duration, quick: Duration) -> Duration { isQuick ? quick : usual }
}

/// Says on standard error how far a long measurement is: one line that changes on a terminal, else one
/// line a stage.
final class Progress {
    private let isTerminal = isatty(STDERR_FILENO) == 1
    private var stage = ""

    /// Begins a stage.
    func begin(_ stage: String) {
        self.stage = stage
        if !isTerminal { write(stage + "\n") }
    }

    /// Shows which part of the stage is under way.
    func step(_ done: Int, of all: Int) {
        if isTerminal { write("\r\u{1B}[K\(stage): \(done) of \(all)") }
    }

    /// Takes the line away.
    func end() {
        if isTerminal { write("\r\u{1B}[K") }
    }

    private func write(_ text: String) {
        FileHandle.standardError.write(Data(text.utf8))
    }
}
