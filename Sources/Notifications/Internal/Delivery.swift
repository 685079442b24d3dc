/// A notification on its way to an observer on a loop: a value, which lies in the loop's queue.
///
/// It refers to its observer without counting: the poster would write what the loop's thread writes, for each notification.
/// The observer lives until all that was sent to it has arrived or was let go of; it sees to that itself
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
        // Counted from here on, by the loop's thread only: the handler may run the loop, and that what the observer sent behind
        // this delivery. Before the lane is told, which others take for a sign that nothing refers to the observer.
        let observer = unsafe observer.takeUnretainedValue()
        observer.lane.hasArrived()
        observer.deliver(notification)
    }

    private func wasLost() {
        unsafe observer._withUnsafeGuaranteedRef { $0.lost(notification) }
    }

    /// Ends the delivery that lies at a place.
    static func end(at place: UnsafeMutableRawPointer, hasArrived: Bool) {
        // Safe: called once for each that was sent, with the place where it was put, and nobody else looks there.
        let delivery = unsafe place.assumingMemoryBound(to: Delivery.self)
        // Where it lies: a copy would count references to all that is in it.
        if hasArrived { unsafe delivery.pointee.arrive() } else { unsafe delivery.pointee.wasLost() }
        unsafe delivery.deinitialize(count: 1)
    }
}

/// A turn of a limited observer, on its way: which notifications it delivers is decided when it arrives.
struct Turn: ~Copyable, Sendable {
    private let observer: RedirectedObserver
    /// Its number in the observer's account.
    private let number: Int

    init(of observer: RedirectedObserver, _ number: Int) {
        self.observer = observer
        self.number = number
    }

    /// Ends the turn that lies at a place.
    static func end(at place: UnsafeMutableRawPointer, hasArrived: Bool) {
        // Safe: called once for each that was sent, with the place where it was put, and nobody else looks there.
        let turn = unsafe place.assumingMemoryBound(to: Turn.self).move()
        if hasArrived {
            turn.observer.deliver(turn: turn.number)
        } else {
            turn.observer.lost(turn: turn.number)
        }
    }
}

/// A notification on its way to an unlimited observer, for which the poster waits.
final class AwaitedDelivery: Sendable {
    private let observer: RedirectedObserver
    private let notification: Notification

    /// `nonisolated(unsafe)`: written by the loop's thread, and read when nobody else has the delivery any more.
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

    /// Ends the delivery that lies at a place: one that has not arrived is lost when it goes.
    static func end(at place: UnsafeMutableRawPointer, hasArrived: Bool) {
        // Safe: called once for each that was sent, with the place where it was put, and nobody else looks there.
        let delivery = unsafe place.assumingMemoryBound(to: AwaitedDelivery.self).move()
        if hasArrived { delivery.arrive() }
    }

    deinit {
        if unsafe !hasArrived { observer.lost(notification, awaitedAs: ObjectIdentifier(self)) }
    }
}
