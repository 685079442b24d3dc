internal import RunLoops

/// The counters of a port's statistics.
final class PortCounters: Sendable {
    private let counts = Guarded(MessagePort.Statistics())

    /// The number of messages and requests that were delivered.
    ///
    /// Only the thread that has the port's claim counts them, without the lock.
    let messages = Counter()

    func add(_ change: (inout MessagePort.Statistics) -> Void) { counts.withLock { change(&$0) } }

    var statistics: MessagePort.Statistics {
        var statistics = counts.withLock { $0 }
        statistics.messages = messages.value
        return statistics
    }
}
