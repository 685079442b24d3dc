/// A right to send to a port; the port counts its send rights.
///
/// All copies of a right are one right, which ends when the last copy is destroyed. A right does not keep its port alive: after the
/// port has ended, sending throws. The receiver can set a handler that is called when the last right has ended:
/// ``Port/onNoSenders(_:)``. <doc:Ports> describes rights.
///
/// ```swift
/// let orders = Port<Order>()
/// RunLoop.current.add(orders, forMode: .default) { order in serve(order) }
/// orders.onNoSenders { _ in RunLoop.current.stop() }
/// takeOrders(with: orders.makeSendRight())
/// ```
///
/// Rights are equal if they are rights to the same port.
///
/// > Thread safety: any thread.
public struct SendRight<Message: Sendable>: Sendable {
    @usableFromInline let share: SendRightShare

    init(_ core: PortCore) { share = SendRightShare(core) }

    /// True until the port ends.
    ///
    /// > Thread safety: any thread; the port can end at any moment.
    public var isValid: Bool { !share.core.isClosed }

    /// Sends a message.
    ///
    /// This is the same as the blocking `send` of ``Port``.
    ///
    /// - Parameter message: The message. The receiver owns it after the call has sent it.
    /// - Throws: ``PortSendError``, which returns the unsent message, if the port has ended, or if the wait for room would never
    ///   end because the receiver's thread is this thread or waits for this thread.
    ///
    /// > Thread safety: any thread. Not in a signal handler.
    @inlinable
    public func send(_ message: consuming Message) throws(PortSendError<Message>) {
        // The call holds the right until the message is queued. Otherwise the notice of the right's end could be queued before the
        // message.
        defer { withExtendedLifetime(share) {} }
        try share.core.post(message)
    }

    /// Sends a message before a deadline.
    ///
    /// This is the same as the blocking `send` of ``Port`` with a deadline.
    ///
    /// - Parameters:
    ///   - message: The message. The receiver owns it after the call has sent it.
    ///   - deadline: The time at which the wait ends. If it has passed, the call tries once and does not wait.
    /// - Throws: ``PortSendError``, which returns the unsent message, if the deadline passed, if the port has ended, or if the wait
    ///   for room would never end because the receiver's thread is this thread or waits for this thread.
    ///
    /// > Thread safety: any thread. Not in a signal handler.
    @inlinable
    public func send(
        _ message: consuming Message, before deadline: ContinuousClock.Instant
    ) throws(PortSendError<Message>) {
        defer { withExtendedLifetime(share) {} }
        try share.core.post(message, before: deadline)
    }

    /// Sends messages in order, several at a time if there is room.
    ///
    /// That is cheaper than sending the messages one by one.
    ///
    /// This is the same as the blocking `send(contentsOf:before:)` of ``Port``.
    ///
    /// - Parameters:
    ///   - messages: The messages. The collection is iterated once. Each of its messages is either sent or contained in the error.
    ///   - deadline: The time at which the wait ends; nil for never. If it has passed, the call sends the messages that fit.
    /// - Throws: ``PortSendError``, which returns the unsent messages, if the deadline passed, if the port has ended, or if the
    ///   wait for room would never end because the receiver's thread is this thread or waits for this thread. All messages before
    ///   the unsent messages were sent.
    ///
    /// > Thread safety: any thread. Not in a signal handler.
    @inlinable
    public func send(
        contentsOf messages: some Collection<Message>, before deadline: ContinuousClock.Instant? = nil
    ) throws(PortSendError<Message>) {
        defer { withExtendedLifetime(share) {} }
        try share.core.post(contentsOf: messages, before: deadline)
    }

    /// Adds a handler that this thread's loop calls when the port has ended.
    ///
    /// This is the same as ``Port/addInvalidationHandler(fileID:line:_:)``. The handler is called even if the right ends
    /// before the port.
    ///
    /// - Parameters:
    ///   - fileID: The file of the call, for diagnostics.
    ///   - line: The line of the call, for diagnostics.
    ///   - handler: The handler.
    ///
    /// > Thread safety: any thread; the handler is called on this thread. Not in asynchronous code, where the thread can change.
    @available(*, noasync, message: "the thread may change at any await; ask in a block on the loop you want")
    public func addInvalidationHandler(
        fileID: StaticString = #fileID, line: Int = #line, _ handler: @escaping () -> Void
    ) {
        share.core.addInvalidationHandler(
            LoopCallback(RunLoop.current, SourceLocation(fileID, line), handler))
    }
}

extension SendRight where Message == Void {
    /// Sends a signal.
    ///
    /// Signals that have not been received yet are merged into one.
    ///
    /// - Throws: ``PortSendError`` if the port has ended.
    ///
    /// > Thread safety: any thread. Not in a signal handler.
    public func send() throws(PortSendError<Void>) { try send(()) }
}

extension SendRight: HashableByIdentity {
    package var identity: ObjectIdentifier { ObjectIdentifier(share.core) }
}

/// The state that the copies of a send right share.
@usableFromInline
final class SendRightShare: Sendable {
    @usableFromInline let core: PortCore

    init(_ core: PortCore) {
        self.core = core
        core.makeSendRight()
    }

    deinit { core.dropSendRight() }
}

extension SendRight: CustomStringConvertible {
    /// The place where the port was made.
    public var description: String { "right to send to the port made at \(share.core.origin)" }
}
