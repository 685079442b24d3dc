internal import RunLoops

/// A handle to an observation, with which you end it.
///
/// The observation ends with ``remove()``, or when the last reference to the handle is released. Keep the handle in a stored
/// property of the object that observes. A local variable alone is not enough: in an optimized build, Swift may destroy the
/// variable after its last use instead of at the end of its scope. To prevent that, use the handle at the end of the scope, with
/// `defer { observation.remove() }`.
///
/// > Thread safety: any thread.
public final class DistributedObservation: Sendable {
    /// The numbers of an observer's notifications that were delivered and dropped.
    ///
    /// > Thread safety: a value.
    public struct Statistics: Hashable, Sendable {
        /// The number of notifications that were delivered to the observer.
        public internal(set) var delivered = 0
        /// The number of notifications that were dropped for lack of room or during a suspension.
        ///
        /// Each dropped notification is reported in a gap.
        public internal(set) var dropped = 0
    }

    let lane: ObserverLane
    private let number: UInt64
    private let center: CenterState

    init(_ lane: ObserverLane, _ number: UInt64, _ center: CenterState) {
        self.lane = lane
        self.number = number
        self.center = center
    }

    // In a forked child, the center belongs to the parent process.
    deinit { if !Fork.isChild { remove() } }

    /// The numbers of notifications that were delivered and dropped so far.
    public var statistics: Statistics { lane.counts }

    /// True once the engine has confirmed the subscription.
    ///
    /// From then on, every matching notification is delivered, or is reported in a gap.
    public var isConfirmed: Bool { lane.isConfirmed }

    /// Ends the observation.
    ///
    /// Events that wait are discarded. If this is called on the thread of the observer's loop, no call of the handler starts
    /// after `remove()` has returned. If this is called on another thread, one call can still be under way. A second call of
    /// `remove()` does nothing.
    public func remove() {
        Fork.check("DistributedObservation.remove")
        // The lane may have removed itself, because the loop of the observer has ended. The center still holds it then.
        lane.remove()
        center.remove(number)
    }

    /// Blocks the thread until the subscription is confirmed.
    ///
    /// - Parameter deadline: The time at which the wait ends; nil for never.
    /// - Returns: False if the deadline passed first, or the observation or its center ended.
    ///
    /// > Thread safety: any thread.
    @available(*, noasync, message: "this blocks the thread; await confirmed() instead")
    @discardableResult
    public func waitUntilConfirmed(before deadline: ContinuousClock.Instant? = nil) -> Bool {
        guard let wait = lane.awaitConfirmation() else { return isConfirmed }
        return wait.wait(until: deadline.map { Moment($0) } ?? .never) && isConfirmed
    }

    /// Waits until the subscription is confirmed, without blocking a thread.
    ///
    /// - Returns: False if the task was cancelled, or the observation or its center ended.
    ///
    /// > Thread safety: any task.
    @discardableResult
    public func confirmed() async -> Bool {
        guard let wait = lane.awaitConfirmation() else { return isConfirmed }
        return await wait.value(before: .never, timedOut: false, cancelled: false) {}
    }
}
