/// A request that was made, and waits for its reply: on behalf of a thread, or of a task.
final class PendingRequest: Sendable {
    /// Whether a task waits, and no thread.
    let isTask: Bool

    private let contents = Guarded(Contents())

    private struct Contents: Sendable {
        var outcome: Result<Packet, MessagePortError>?
        /// What the thread waits at.
        var gate: ThreadGate?
        /// What the task is told by.
        var notify: (@Sendable () -> Void)?
    }

    init(isTask: Bool) { self.isTask = isTask }

    /// Whether nothing is waited for any more.
    var isDecided: Bool { contents.withLock { $0.outcome != nil } }

    /// What was decided.
    var outcome: Result<Packet, MessagePortError>? { contents.withLock { $0.outcome } }

    /// Decides what the waiter gets; the first one does.
    func decide(_ outcome: Result<Packet, MessagePortError>) -> Bool {
        let (decides, gate, notify) = contents.withLock {
            contents -> (Bool, ThreadGate?, (@Sendable () -> Void)?) in
            if contents.outcome != nil { return (false, nil, nil) }
            contents.outcome = outcome
            defer { contents.notify = nil }
            return (true, contents.gate, contents.notify)
        }
        gate?.open()
        notify?()
        return decides
    }

    /// A gate that opens when it is decided, or when the thread is to look what it can do; nil if it is decided.
    func gateToWaitAt() -> ThreadGate? {
        contents.withLock { contents in
            if contents.outcome != nil { return nil }
            let gate = ThreadGate()
            contents.gate = gate
            return gate
        }
    }

    /// Whether a thread waits at the gate, or is about to look again.
    ///
    /// Not so while it is still sending.
    var isAtGate: Bool { contents.withLock { $0.gate != nil && $0.outcome == nil } }

    /// Has the thread look what it can do.
    func nudge() { contents.withLock { $0.gate }?.open() }

    /// Sets what is called once it is decided, which may be at once.
    func onOutcome(_ notify: @escaping @Sendable () -> Void) {
        let isDecided = contents.withLock { contents in
            if contents.outcome == nil { contents.notify = notify }
            return contents.outcome != nil
        }
        if isDecided { notify() }
    }
}
