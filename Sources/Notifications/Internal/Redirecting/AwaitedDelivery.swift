/// The delivery of one notification to an observer with unlimited capacity, while the poster waits for the delivery.
///
/// The delivery is sent to the loop of the observer.
final class AwaitedDelivery: Sendable {
    private let observer: RedirectedObserver
    private let notification: Notification

    /// True once the delivery has arrived on the loop's thread.
    ///
    /// `nonisolated(unsafe)`: written on the loop's thread, and read when there is no other reference to the delivery.
    nonisolated(unsafe) private var hasArrived = false

    init(_ notification: Notification, to observer: RedirectedObserver) {
        self.notification = notification
        self.observer = observer
    }

    private func arrive() {
        unsafe hasArrived = true
        observer.lane.hasArrived()
        observer.deliver(notification, awaitedAs: ObjectIdentifier(self))
    }

    /// Moves a delivery out of the loop's queue, and calls the observer's handler if `hasArrived` is true.
    ///
    /// If `hasArrived` is false, the delivery counts as discarded when the last reference to it is released.
    static func end(at address: UnsafeMutableRawPointer, hasArrived: Bool) {
        // Safe: called once for each delivery, with the address at which it was stored, which no other thread reads.
        let delivery = unsafe address.assumingMemoryBound(to: AwaitedDelivery.self).move()
        if hasArrived { delivery.arrive() }
    }

    deinit {
        if unsafe !hasArrived { observer.wasDiscarded(notification, awaitedAs: ObjectIdentifier(self)) }
    }
}
