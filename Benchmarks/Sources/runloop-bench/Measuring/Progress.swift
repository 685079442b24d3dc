internal import Foundation

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
