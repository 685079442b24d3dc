internal import DequeModule

/// Signalled inputs that wait to be served, first come, first served.
///
/// Like blocks, those that are not in the running mode are put aside until the mode changes.
final class ReadyQueue {
    private let lines = ExclusivityUnchecked(Lines())

    private struct Lines {
        var queued = Deque<ReadyNode>()
        var setAside = Deque<ReadyNode>()
    }

    var isEmpty: Bool { @inline(__always) get { lines.value.queued.isEmpty } }
    var count: Int { lines.value.queued.count }

    /// Puts a signal in line, unless it is there.
    func append(_ signal: ReadyNode) {
        if signal.isQueued { return }
        signal.isQueued = true
        lines.value.queued.append(signal)
    }

    /// Puts a signal back in front, unless it is in line again.
    func prepend(_ signal: ReadyNode) {
        if signal.isQueued { return }
        signal.isQueued = true
        lines.value.queued.prepend(signal)
    }

    /// The next input in this mode, with its signal.
    func next(in mode: RunLoop.Mode) -> (signal: ReadyNode, input: any SignalledInput)? {
        while !lines.value.queued.isEmpty {
            let signal = lines.value.queued.removeFirst()
            // Read once: each reading counts the references, which takes some 50 instructions.
            let input = signal.input
            if let input, !input.isIn(mode) {
                lines.value.setAside.append(signal)
                continue
            }
            signal.isQueued = false
            if let input { return (signal, input) }
        }
        return nil
    }

    /// True if an input in this mode waits.
    func holdsInput(in mode: RunLoop.Mode) -> Bool {
        lines.value.queued.contains { $0.input?.isIn(mode) ?? false }
    }

    /// Looks at all of them again: another mode runs, or an input is in other modes.
    func modeDidChange() {
        if lines.value.setAside.isEmpty { return }
        lines.value.queued.prepend(contentsOf: lines.value.setAside)
        lines.value.setAside = []
    }

    func removeAll() {
        lines.value.queued = []
        lines.value.setAside = []
    }
}
