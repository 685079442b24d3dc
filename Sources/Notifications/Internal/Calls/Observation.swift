internal import RunLoops
internal import Synchronization

/// One registration of an observer.
///
/// It does not know the type of the notifications or messages it observes; its callers do.
///
/// `@safe` and `@unchecked Sendable`: every stored property is `Sendable` but for the handler, which has its own argument.
@safe
class Observation: @unchecked Sendable {
    /// The bits of an ``ObservationState``.
    let stateBits = Atomic<UInt8>(0)

    /// A ``NotificationHandler`` or ``MessageHandler``.
    ///
    /// `nonisolated(unsafe)`: constant, and the object is released once the observation is settled, when no thread calls it.
    nonisolated(unsafe) let handler: Unmanaged<AnyObject>

    /// The position in the order of all registrations of a center.
    let sequence: UInt64

    /// The sender whose notifications are observed; nil for any sender and for none.
    let sender: ObjectIdentifier?

    /// The object behind ``sender``: its identity has a meaning only while it is alive.
    private let object: WeakReference?

    /// The waits for the end of the last call.
    let end = ForkSafe(End())

    struct End {
        var hasCome = false
        var waiters: [@Sendable () -> Void] = []
    }

    /// The observer on a loop that this observation feeds, if there is one.
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
    }

    deinit { if !state.contains(.settled) { unsafe handler.release() } }

    /// True if notifications of this sender are observed.
    @inline(__always)
    final func matches(_ other: ObjectIdentifier?) -> Bool {
        guard let sender else { return true }
        // The weak reference is read only for an equal identity: another object may have the address by now.
        return sender == other && object?.isAlive ?? false
    }

    // MARK: - Calling

    /// Calls an observation of notifications, unless it was removed.
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

    /// Calls an observation of messages of a type, unless it was removed.
    @inline(__always)
    final func call<Message: NotificationMessage>(message: Message, in slot: borrowing CallRecord.Slot) {
        call(in: slot) { (handler: MessageHandler<Message>) in handler.body(message) }
    }

    /// Gives the body the handler, unless the observation was removed.
    @inline(__always)
    private func call<Handler: AnyObject>(in slot: borrowing CallRecord.Slot, _ body: (Handler) -> Void) {
        if isRemoved { return }
        slot.publish(self)
        // Loaded again: a removal between the first load and the store to the slot has not seen the call, and does not wait
        // for it.
        if !isRemoved {
            // Safe: each kind of observation is called with its own kind of handler only.
            unsafe handler._withUnsafeGuaranteedRef { body(unsafe unsafeDowncast($0, to: Handler.self)) }
        }
        slot.clear()
        callHasEnded()
    }

    /// True if a call of this observation is on the stack of the calling thread.
    final var isRunningHere: Bool { CallRecord.isCalledByThisThread(self) }

    /// Releases the handler: called once, when no call runs and none will.
    func releaseHandler() {
        target?.outliveDeliveries()
        unsafe handler.release()
    }
}

extension Unmanaged where Instance == Observation {
    /// The position of the observation in the order of all registrations.
    @inline(__always)
    var sequence: UInt64 { unsafe _withUnsafeGuaranteedRef { $0.sequence } }
}
