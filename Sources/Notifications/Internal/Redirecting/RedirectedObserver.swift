internal import RunLoops
internal import Synchronization

/// An observer on a loop, responsible for all steps between the post and the call of the handler on the loop's thread.
final class RedirectedObserver: DeliveryTarget {
    /// Padding that keeps the reference count off the cache lines of the properties that posters read.
    ///
    /// The loop's thread writes the reference count for each delivery. The object's header and the padding fill two cache lines,
    /// because processors fetch cache lines in pairs.
    private let countPadding = InlineArray<14, UInt64>(repeating: 0)

    let redirector: NotificationRedirector
    let lane: DeliveryLane
    let capacity: NotificationCenter.Capacity
    /// The observation that holds the user's handler, which is called on the loop's thread.
    let observation: Observation

    /// The notifications that wait for the handler.
    ///
    /// If the capacity is unlimited, the queue holds only the notifications for which a poster waits.
    let queue = Guarded(BoundedDeliveryQueue())
    let dropped = Atomic<Int>(0)
    let undelivered = Atomic<Int>(0)
    /// True once the user has removed the observer; notifications that are discarded after that are not counted.
    let wasRemoved = Atomic<Bool>(false)

    /// The registration that passes notifications to this observer.
    ///
    /// It is set to nil when the observer ends, because the registration refers back to the observer.
    let registration = Guarded<Registration?>(nil)

    /// Padding that keeps `delivered` off the cache lines that posters use.
    private let deliveredPadding = InlineArray<16, UInt64>(repeating: 0)
    /// The number of calls of the handler; only the loop's thread writes it.
    let delivered = Atomic<Int>(0)

    init(
        _ redirector: NotificationRedirector, _ modes: [RunLoop.Mode],
        _ capacity: NotificationCenter.Capacity, _ handler: @escaping (Notification) -> Void
    ) {
        self.redirector = redirector
        lane = redirector.lane(for: modes)
        self.capacity = capacity
        observation = RedirectedObservation(redirector.runLoop, handler)
        redirector.observerCount.add(1, ordering: .relaxed)
    }

    deinit { redirector.observerCount.subtract(1, ordering: .relaxed) }

    var counts: ObservationToken.Statistics {
        ObservationToken.Statistics(
            delivered: delivered.load(ordering: .relaxed), dropped: dropped.load(ordering: .relaxed),
            undelivered: undelivered.load(ordering: .relaxed))
    }

    /// The number of deliveries to this observer for which a poster waits.
    var awaitedCount: Int { queue.withLock { $0.awaitedCount } }

    /// The number of posters that wait for room at this observer.
    var waitingPosterCount: Int { queue.withLock { $0.waitingPosterCount } }

    /// Notes that this observer is done with a notification, so that the poster no longer waits for this observer.
    ///
    /// If the poster does not wait, the call does nothing.
    @inline(__always)
    func finish(_ notification: Notification, wasDiscarded: Bool = false) {
        notification.pendingDeliveries?.end(on: redirector.runLoop, wasDiscarded: wasDiscarded)
    }
}
