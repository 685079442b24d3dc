/// A notification in a loop's queue, on its way to an observer with unlimited capacity.
///
/// The delivery does not retain the observer. Otherwise the poster and the loop would both write the observer's reference count for
/// each notification. The observer stays alive until all deliveries that were sent to it have arrived or were discarded
/// (``RedirectedObserver/outliveDeliveries()``).
///
/// `@safe`, because the observer stays alive.
@safe
struct Delivery: ~Copyable, Sendable {
    private let observer: Unmanaged<RedirectedObserver>
    private let notification: Notification

    init(_ notification: Notification, to observer: RedirectedObserver) {
        self.notification = notification
        unsafe self.observer = .passUnretained(observer)
    }

    private func arrive() {
        // This line takes a counted reference, because the observer could otherwise be destroyed while it is called. The observer
        // keeps itself alive with a block that it sends after this delivery, but the handler can run the loop, and that run can
        // perform the block. The reference is taken before `hasArrived`, which tells other threads that the delivery no longer
        // refers to the observer.
        let observer = unsafe observer.takeUnretainedValue()
        observer.lane.hasArrived()
        observer.deliver(notification)
    }

    private func wasDiscarded() {
        unsafe observer._withUnsafeGuaranteedRef { $0.wasDiscarded(notification) }
    }

    /// Ends the delivery that is stored at an address.
    ///
    /// `hasArrived` is true if the delivery has arrived. It is false if the delivery was discarded when the loop ended.
    static func end(at address: UnsafeMutableRawPointer, hasArrived: Bool) {
        // Safe: called once for each delivery, with the address at which it was stored, which no other thread reads.
        let delivery = unsafe address.assumingMemoryBound(to: Delivery.self)
        // The delivery is used in place, because a copy would count references to the contents of the notification.
        if hasArrived { unsafe delivery.pointee.arrive() } else { unsafe delivery.pointee.wasDiscarded() }
        unsafe delivery.deinitialize(count: 1)
    }
}
