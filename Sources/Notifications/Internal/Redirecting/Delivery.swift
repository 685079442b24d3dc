/// A notification on its way to an unlimited observer on a loop; a value in the loop's queue.
///
/// It refers to its observer without a reference count, because poster and loop would both write the count for each
/// notification. The observer stays alive until everything that was sent to it has arrived or was discarded
/// (``RedirectedObserver/outliveDeliveries()``).
///
/// `@safe`: for that reason.
@safe
struct Delivery: ~Copyable, Sendable {
    private let observer: Unmanaged<RedirectedObserver>
    private let notification: Notification

    init(_ notification: Notification, to observer: RedirectedObserver) {
        self.notification = notification
        unsafe self.observer = .passUnretained(observer)
    }

    private func arrive() {
        // A counted reference from here on: the handler may run the loop, and that may process the block that the observer
        // has sent behind this delivery to stay alive. Taken before `hasArrived`, which tells other threads that no delivery
        // refers to the observer.
        let observer = unsafe observer.takeUnretainedValue()
        observer.lane.hasArrived()
        observer.deliver(notification)
    }

    private func wasDiscarded() {
        unsafe observer._withUnsafeGuaranteedRef { $0.wasDiscarded(notification) }
    }

    /// Ends the delivery at an address: it has arrived, or was discarded because the loop has ended.
    static func end(at address: UnsafeMutableRawPointer, hasArrived: Bool) {
        // Safe: called once for each delivery, with the address where it was put, which no other thread reads.
        let delivery = unsafe address.assumingMemoryBound(to: Delivery.self)
        // Used in place: a copy would count references to the contents of the notification.
        if hasArrived { unsafe delivery.pointee.arrive() } else { unsafe delivery.pointee.wasDiscarded() }
        unsafe delivery.deinitialize(count: 1)
    }
}
