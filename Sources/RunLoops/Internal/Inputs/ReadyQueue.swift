internal import DequeModule

/// The signalled inputs that wait to be served, first come, first served.
///
/// An input that is not in the running mode is set aside until the mode changes. The loop treats blocks in the same way.
final class ReadyQueue {
    #if !CHECKS_EXCLUSIVITY
        @safe @exclusivity(unchecked)
    #endif
    private var lines = Lines()

    private struct Lines: ~Copyable {
        var queued = Deque<ReadyNode>()
        var setAside = Deque<ReadyNode>()
    }

    var isEmpty: Bool { @inline(__always) get { lines.queued.isEmpty } }
    var count: Int { lines.queued.count }

    /// Queues a signal, unless it is already queued.
    func append(_ signal: ReadyNode) {
        if signal.isQueued { return }
        signal.isQueued = true
        lines.queued.append(signal)
    }

    /// Removes the next input that is in the given mode, and returns the input with its signal.
    func next(in mode: Mode) -> (signal: ReadyNode, input: any SignalledInput)? {
        while !lines.queued.isEmpty {
            let signal = lines.queued.removeFirst()
            // The property is read once, because each reading changes reference counts, which takes some 50 instructions.
            let input = signal.input
            if let input, !input.isIn(mode) {
                lines.setAside.append(signal)
                continue
            }
            signal.isQueued = false
            if let input { return (signal, input) }
        }
        return nil
    }

    /// True if a queued input is in the given mode.
    func holdsInput(in mode: Mode) -> Bool {
        lines.queued.contains { $0.input?.isIn(mode) ?? false }
    }

    /// Requeues the inputs that were set aside, before all other inputs.
    ///
    /// This is called when another mode runs, or when an input has joined a mode.
    func modeDidChange() {
        if lines.setAside.isEmpty { return }
        lines.queued.prepend(contentsOf: lines.setAside)
        lines.setAside = []
    }

    func removeAll() {
        lines.queued = []
        lines.setAside = []
    }
}
