/// A notification on its way to an unlimited observer whose poster waits for the delivery.
final class AwaitedDelivery: Sendable {
    private let observer: RedirectedObserver
    private let notification: Notification

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

    /// Ends the delivery at an address: it has arrived, or is discarded when its last reference is released.
    static func end(at address: UnsafeMutableRawPointer, hasArrived: Bool) {
        // Safe: called once for each delivery, with the address where it was put, which no other thread reads.
        let delivery = unsafe address.assumingMemoryBound(to: AwaitedDelivery.self).move()
        if hasArrived { delivery.arrive() }
    }

    deinit {
        if unsafe !hasArrived { observer.wasDiscarded(notification, awaitedAs: ObjectIdentifier(self)) }
    }
}
