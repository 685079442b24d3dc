internal import RunLoops

/// The counters from which a port's ``MessagePort/Statistics`` are made.
final class PortCounters: Sendable {
    private let counts = Guarded(MessagePort.Statistics())

    /// The number of messages and requests that were delivered.
    ///
    /// Only the port's loop changes this counter, on its own thread and without the lock.
    let messages = Counter()

    func add(_ change: (inout MessagePort.Statistics) -> Void) { counts.withLock { change(&$0) } }

    var statistics: MessagePort.Statistics {
        var statistics = counts.withLock { $0 }
        statistics.messages = messages.value
        return statistics
    }
}
