internal import RunLoops
internal import Synchronization

/// One registration of an observer.
///
/// It does not know the type of what it observes; whoever calls it does.
///
/// `@safe` and `@unchecked Sendable`: what is stored is `Sendable` but for the handler, whose own comment argues it.
@safe
class Observation: @unchecked Sendable {
    /// The bits of an ``ObservationLife``.
    private let lifeBits = Atomic<UInt8>(0)

    /// A ``NotificationHandler`` or ``MessageHandler``.
    ///
    /// `nonisolated(unsafe)`: constant, and what it refers to is let go of once the observation is settled, when nobody calls
    /// it.
    nonisolated(unsafe) private let handler: Unmanaged<AnyObject>

    /// The place in the order of all registrations of a center.
    let sequence: UInt64

    /// Whose notifications are observed; nil for anybody's.
    let sender: ObjectIdentifier?

    /// That object, if it was given as such: an identity is worth something only while it lives.
    private let object: WeakReference?

    /// The waits for the last call to return, and whether it has.
    private let end = ForkSafe(End())

    private struct End {
        var hasCome = false
        var waiters: [@Sendable () -> Void] = []
    }

    /// What is called on another thread in the end, if that is how it is delivered.
    let target: RedirectedObserver?

    init(
        sequence: UInt64, object: (any AnyObject & Sendable)?, target: RedirectedObserver? = nil,
        handler: AnyObject
    ) {
        unsafe self.handler = .passRetained(handler)
        self.sequence = sequence
        self.target = target
        sender = object.map { ObjectIdentifier($0) }
        self.object = object.map { WeakReference($0) }
    }

    /// Whether notifications of this sender are observed.
    @inline(__always)
    final func matches(_ other: ObjectIdentifier?) -> Bool {
        guard let sender else { return true }
        // The weak reference is read only for the right identity: another object may have got it since.
        return sender == other && object?.isAlive ?? false
    }

    @inline(__always)
    private var life: ObservationLife { ObservationLife(rawValue: lifeBits.load(ordering: .acquiring)) }

    @inline(__always)
    final var isRemoved: Bool { life.contains(.removed) }

    /// Has the handler called, unless the observation was removed.
    @inline(__always)
    private func call<Handler: AnyObject>(in place: borrowing CallRecord.Place, _ body: (Handler) -> Void) {
        if isRemoved { return }
        place.show(self)
        // Again: removed before it was shown, it was not seen by whoever removed it.
        if !isRemoved {
            // Safe: each kind of observation is called with its own kind of handler only.
            unsafe handler._withUnsafeGuaranteedRef { body(unsafe unsafeDowncast($0, to: Handler.self)) }
        }
        place.clear()
        callIsOver()
    }

    /// A call is shown no more.
    @inline(__always)
    final func callIsOver() {
        if isRemoved { settle() }
    }

    /// Calls an observation of notifications, unless it was removed.
    ///
    /// - Parameters:
    ///   - notification: What has happened.
    ///   - place: Where the call is shown.
    ///   - willCall: What is done first, if it is called.
    @inline(__always)
    final func call(
        _ notification: Notification, in place: borrowing CallRecord.Place, willCall: () -> Void = {}
    ) {
        call(in: place) { (handler: NotificationHandler) in
            willCall()
            handler.body(notification)
        }
    }

    /// Calls an observation of messages of a type, unless it was removed.
    @inline(__always)
    final func call<Message: NotificationMessage>(message: Message, in place: borrowing CallRecord.Place) {
        call(in: place) { (handler: MessageHandler<Message>) in handler.body(message) }
    }

    /// Ends the observation: no call starts any more.
    ///
    /// Any thread; again is harmless.
    ///
    /// - Returns: Whether this ended it, and not somebody else before.
    final func remove() -> Bool {
        guard add(.removed) else { return false }
        settle()
        return true
    }

    /// - Returns: Whether it was not there before.
    private func add(_ bit: ObservationLife) -> Bool {
        let before = lifeBits.bitwiseOr(bit.rawValue, ordering: .sequentiallyConsistent).oldValue
        return !ObservationLife(rawValue: before).contains(bit)
    }

    /// Finishes the observation, if no call of it runs any more.
    ///
    /// By whoever has removed it, and by every call that finds it removed when it has returned: of those the last sees no
    /// other.
    @inline(never)
    private func settle() {
        if life.contains(.settled) || CallRecord.isShown(self) { return }
        if add(.settled) { finish() }
    }

    /// The observation was removed and its last call has returned.
    private func finish() {
        let waiters = end.withLock { end in
            end.hasCome = true
            defer { end.waiters = [] }
            return end.waiters
        }
        // After the end has come: what is destroyed with the handler may wait for the end.
        releaseHandler()
        for waiter in waiters { waiter() }
    }

    /// Lets go of the handler: once, when no call runs and none will.
    func releaseHandler() {
        target?.outliveDeliveries()
        unsafe handler.release()
    }

    deinit { if !life.contains(.settled) { unsafe handler.release() } }

    /// Calls `waiter` when no call runs any more, which may be at once.
    ///
    /// After ``remove()``.
    final func whenFinished(_ waiter: @escaping @Sendable () -> Void) {
        let hasCome = end.withLock { end in
            if !end.hasCome { end.waiters.append(waiter) }
            return end.hasCome
        }
        // In a forked child the one that was to look may be a thread of the parent.
        if hasCome { waiter() } else if isRemoved { settle() }
    }

    /// Whether a call of this observation is on the stack of the calling thread.
    final var isRunningHere: Bool { CallRecord.currentShows(self) }
}

extension Unmanaged where Instance == Observation {
    /// The place of the observation in the order of all registrations.
    @inline(__always)
    var sequence: UInt64 { unsafe _withUnsafeGuaranteedRef { $0.sequence } }
}

/// What is called for a notification.
///
/// An object, because a closure in an object's constant is called without counting a reference to it; and not generic, because
/// a closure in a generic object is called through another one.
final class NotificationHandler {
    let body: (Notification) -> Void
    init(_ body: @escaping (Notification) -> Void) { self.body = body }
}

/// What is called for a message of a type.
final class MessageHandler<Message: NotificationMessage> {
    let body: (Message) -> Void
    init(_ body: @escaping (Message) -> Void) { self.body = body }
}
