/// A right to send to a port, which its receiver counts.
///
/// Copies are one right, which goes when the last of them does. A right does not keep its port alive: once the port has
/// ended, sending throws. When the last right has gone, the receiver can be told:
/// ``Port/onNoSenders(_:)``. <doc:Ports> tells more.
///
/// ```swift
/// let orders = Port<Order>()
/// RunLoop.current.add(orders, forMode: .default) { order in serve(order) }
/// orders.onNoSenders { RunLoop.current.stop() }
/// takeOrders(with: orders.makeSendRight())
/// ```
///
/// Rights are equal if they are rights to the same port.
///
/// > Thread safety: any thread.
public struct SendRight<Message: Sendable>: Sendable {
    @usableFromInline let share: SendRightShare

    init(_ core: PortCore) { share = SendRightShare(core) }

    /// False once the port has ended.
    ///
    /// > Thread safety: any thread; it may end at any moment.
    public var isValid: Bool { !share.core.isClosed }

    /// Sends a message.
    ///
    /// As ``Port/send(_:)-swift.method``.
    ///
    /// - Parameter message: What is sent; it belongs to the receiver then.
    /// - Throws: ``PortSendError``, which gives the message back: the port has ended, or the receiver's thread is this
    ///   one or waits for it, so that the wait would never end.
    ///
    /// > Thread safety: any thread. Not in a signal handler.
    @inlinable
    public func send(_ message: consuming Message) throws(PortSendError<Message>) {
        // The right is there until the message is queued, or the receiver would hear of its end first.
        defer { withExtendedLifetime(share) {} }
        try share.core.post(message)
    }

    /// Sends a message before a deadline.
    ///
    /// As ``Port/send(_:before:)``.
    ///
    /// - Parameters:
    ///   - message: What is sent; it belongs to the receiver then.
    ///   - deadline: When to give up. With one that has passed it tries once.
    /// - Throws: ``PortSendError``, which gives the message back: the deadline passed, the port has ended, or the
    ///   receiver's thread is this one or waits for it, so that the wait would never end.
    ///
    /// > Thread safety: any thread. Not in a signal handler.
    @inlinable
    public func send(
        _ message: consuming Message, before deadline: ContinuousClock.Instant
    ) throws(PortSendError<Message>) {
        defer { withExtendedLifetime(share) {} }
        try share.core.post(message, before: deadline)
    }

    /// Sends messages in order, several at a time where there is room: cheaper than one by one.
    ///
    /// As ``Port/send(contentsOf:before:)``.
    ///
    /// - Parameters:
    ///   - messages: The messages. The collection is iterated once, and each message that it gives is sent or given back.
    ///   - deadline: When to give up; nil for never. With one that has passed it sends what fits.
    /// - Throws: ``PortSendError``, which gives back the messages that were not sent. Those before them were.
    ///
    /// > Thread safety: any thread. Not in a signal handler.
    @inlinable
    public func send(
        contentsOf messages: some Collection<Message>, before deadline: ContinuousClock.Instant? = nil
    ) throws(PortSendError<Message>) {
        defer { withExtendedLifetime(share) {} }
        try share.core.post(contentsOf: messages, before: deadline)
    }

    /// Has a handler called on this thread's loop when the port has ended.
    ///
    /// As ``Port/onInvalidation(fileID:line:_:)``. It is called also if the right has gone meanwhile.
    ///
    /// - Parameters:
    ///   - fileID: Where it is called, for diagnostics.
    ///   - line: Where it is called, for diagnostics.
    ///   - handler: What is called, once.
    ///
    /// > Thread safety: any thread; the handler is called on this one. Not in asynchronous code, where the thread may
    /// > change.
    @available(*, noasync, message: "the thread may change at any await; ask in a block on the loop you want")
    public func onInvalidation(
        fileID: StaticString = #fileID, line: Int = #line, _ handler: @escaping () -> Void
    ) {
        share.core.onInvalidation(EndWatcher(RunLoop.current, SourceLocation(fileID, line), handler))
    }
}

extension SendRight where Message == Void {
    /// Sends a signal.
    ///
    /// Signals that have not been received yet are one.
    ///
    /// - Throws: ``PortSendError`` if the port has ended.
    ///
    /// > Thread safety: any thread. Not in a signal handler.
    public func send() throws(PortSendError<Void>) { try send(()) }
}

extension SendRight: Hashable {
    /// Whether both are rights to the same port.
    ///
    /// - Parameters:
    ///   - left: A right.
    ///   - right: Another one.
    /// - Returns: Whether both are rights to the same port.
    public static func == (left: SendRight, right: SendRight) -> Bool { left.share.core === right.share.core }

    /// Feeds the port's identity.
    ///
    /// - Parameter hasher: What is fed.
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(share.core)) }
}

/// What the copies of a send right share: it goes with the last of them.
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
