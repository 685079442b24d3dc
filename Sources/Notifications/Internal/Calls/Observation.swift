internal import RunLoops
internal import Synchronization

/// One registration of an observer, with its handler.
///
/// The class does not know if the handler takes notifications or a type of messages; its callers know.
///
/// `@safe` and `@unchecked Sendable`: every stored property is `Sendable` except `handler`, whose comment explains why it is safe.
@safe
class Observation: @unchecked Sendable {
    /// The bits of an ``ObservationState``.
    let stateBits = Atomic<UInt8>(0)

    /// A ``NotificationHandler`` or ``MessageHandler``.
    ///
    /// `nonisolated(unsafe)`: the reference is constant, and the object is released only when no thread can call it. This is the
    /// case if the observation was removed and its last call has returned, or if the observation is being destroyed.
    nonisolated(unsafe) let handler: Unmanaged<AnyObject>

    /// The number of this observation in the order of the center's registrations.
    let sequence: UInt64

    /// The sender whose notifications are observed; nil if notifications with any sender, or without one, are observed.
    let sender: ObjectIdentifier?

    /// The object that ``sender`` identifies.
    ///
    /// ``sender`` is meaningful only while the object is alive.
    private let object: WeakReference?

    /// Keeps the memory of the destroyed object, so that no other object can get its address and be taken for it.
    ///
    /// The reference is never read.
    private unowned let address: (any AnyObject & Sendable)?

    /// The closures to call when the last call of the handler has returned.
    let end = ForkSafe(End())

    struct End {
        var hasCome = false
        var waiters: [@Sendable () -> Void] = []
    }

    /// The observer on a loop to which this observation passes notifications; nil if it calls the user's handler itself.
    let target: (any DeliveryTarget)?

    init(
        sequence: UInt64, object: (any AnyObject & Sendable)?, target: (any DeliveryTarget)? = nil,
        handler: AnyObject
    ) {
        unsafe self.handler = .passRetained(handler)
        self.sequence = sequence
        self.target = target
        sender = object.map { ObjectIdentifier($0) }
        self.object = object.map { WeakReference($0) }
        address = object
    }

    deinit { if !state.contains(.settled) { unsafe handler.release() } }

    /// True if this observation observes the notifications of a sender.
    ///
    /// - Parameters:
    ///   - other: The identity of the sender; nil for no sender.
    ///   - isHeld: True if the poster holds the sender. An identity alone can be that of an object that was destroyed.
    /// - Returns: True if the handler must be called.
    @inline(__always)
    final func matches(_ other: ObjectIdentifier?, isHeld: Bool) -> Bool {
        guard let sender else { return true }
        return sender == other && (object?.isAlive ?? false || matchesDying(isHeld))
    }

    /// True if the observed object is being destroyed, posts about itself, and is not needed after the post.
    ///
    /// An observer on a loop would be given an object that no longer exists.
    @inline(never)
    private func matchesDying(_ isHeld: Bool) -> Bool { isHeld && target == nil }

    // MARK: - Calling

    /// Calls the handler of an observation of notifications, unless the observation was removed.
    ///
    /// - Parameters:
    ///   - notification: The notification.
    ///   - slot: The slot that publishes the call.
    ///   - willCall: Runs before the handler, if the handler is called.
    @inline(__always)
    final func call(
        _ notification: Notification, in slot: borrowing CallRecord.Slot, willCall: () -> Void = {}
    ) {
        call(in: slot) { (handler: NotificationHandler) in
            willCall()
            handler.body(notification)
        }
    }

    /// Calls the handler of an observation of messages, unless the observation was removed.
    @inline(__always)
    final func call<Message>(message: Message, in slot: borrowing CallRecord.Slot) {
        call(in: slot) { (handler: MessageHandler<Message>) in handler.body(message) }
    }

    /// Calls the body with the observation's handler, unless the observation was removed.
    @inline(__always)
    private func call<Handler: AnyObject>(in slot: borrowing CallRecord.Slot, _ body: (Handler) -> Void) {
        if isRemoved { return }
        slot.publish(self)
        // The state is loaded again. A removal between the first load and the store to the slot does not see the call, and so does
        // not wait for it.
        if !isRemoved {
            // Safe: each kind of observation is called with its own kind of handler only.
            unsafe handler._withUnsafeGuaranteedRef { body(unsafe unsafeDowncast($0, to: Handler.self)) }
        }
        slot.clear()
        callHasEnded()
    }

    /// True if a call of this observation is on the stack of the calling thread.
    final var isRunningHere: Bool { CallRecord.isCalledByThisThread(self) }

    /// Releases the handler.
    ///
    /// This is called once, when no call is running and no call can start.
    func releaseHandler() {
        target?.outliveDeliveries()
        unsafe handler.release()
    }
}

extension Unmanaged where Instance == Observation {
    /// The number of this observation in the order of the center's registrations.
    @inline(__always)
    var sequence: UInt64 { unsafe _withUnsafeGuaranteedRef { $0.sequence } }
}
