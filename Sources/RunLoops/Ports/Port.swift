/// A queue of messages with one receiver and any number of senders.
///
/// The receiver adds the port to its loop and gets each message in a handler on the loop's thread. Any thread can send. Messages of
/// one sender arrive in the order in which they were sent. Messages wait while the loop does not run, or runs in modes that the
/// port is not in, and while the port is in no loop. An accepted message is not discarded before the port ends.
///
/// ```swift
/// let prices = Port<Price>()
/// RunLoop.current.add(prices, forMode: .default) { price in show(price) }
/// let feed = try RunLoopThread(name: "feed")
/// feed.runLoop.perform { try? prices.send(latestPrice()) }
/// ```
///
/// A port holds up to ``queueLimit`` messages. If it is full, senders wait, and are served first come, first served. A port in a
/// mode keeps that mode alive, so a loop with a port needs no other input to keep running.
///
/// A `Port<Void>` carries signals instead of messages. Signals that have not been received yet merge into one. Sending a signal
/// never waits, and allocates nothing.
///
/// The port ends with ``invalidate()``, or when its last reference is released; its loop holds a reference. Send rights, which the
/// receiver can count, do not keep the port alive: <doc:Ports>.
///
/// > Thread safety: any thread, except that ``onNoSenders(_:)`` belongs on the thread of the port's loop.
public final class Port<Message: Sendable>: Sendable {
    @usableFromInline
    let core: PortCore

    /// The number of messages that the port holds before its senders wait.
    public let queueLimit: PortQueueLimit

    /// Makes a port that is in no loop yet.
    ///
    /// - Parameters:
    ///   - queueLimit: The number of messages that the port holds before its senders wait. A port of signals ignores it.
    ///   - fileID: The file of the call, for diagnostics.
    ///   - line: The line of the call, for diagnostics.
    public init(queueLimit: PortQueueLimit = 1024, fileID: StaticString = #fileID, line: Int = #line) {
        self.queueLimit = queueLimit
        core = PortCore(
            limit: queueLimit.count, isSignalPort: Message.self == Void.self,
            origin: SourceLocation(fileID, line),
            destroy: { slot in _ = slot.move(Message.self) },
            move: { slot, node in node.store(slot.move(Message.self)) })
    }

    // In a forked child, the port still belongs to the parent, so the child does not end the port.
    deinit { if !Fork.isChild { core.close() } }

    /// True until the port ends.
    ///
    /// > Thread safety: any thread; the port can end at any moment.
    public var isValid: Bool { !core.isClosed }

    /// Ends the port: queued messages are destroyed, senders that wait are released, and sending throws from now on.
    ///
    /// If the receiver's thread calls this method, the port has left its loop when the call returns, and none of its handlers
    /// starts afterwards. If another thread calls it, a handler can still be running when the call returns, and the loop releases
    /// the port in its next pass. A second call does nothing.
    ///
    /// > Thread safety: any thread.
    public func invalidate() { core.close() }

    /// Sends a message.
    ///
    /// The call returns as soon as the message is queued. If the receiver's loop sleeps, it is woken. If the port is full, the call
    /// blocks until there is room, without running this thread's loop.
    ///
    /// - Parameter message: The message. The receiver owns it after the call has sent it.
    /// - Throws: ``PortSendError``, which returns the unsent message, if the port has ended, or if the wait for room would never
    ///   end because the receiver's thread is this thread or waits for this thread.
    ///
    /// > Thread safety: any thread. Not in a signal handler.
    @inlinable
    public func send(_ message: consuming Message) throws(PortSendError<Message>) {
        try core.post(message)
    }

    /// Sends a message before a deadline.
    ///
    /// This is the same as `send` without a deadline, but it waits for room only until the deadline.
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
        try core.post(message, before: deadline)
    }

    /// Sends messages in order, several at a time if there is room.
    ///
    /// This is cheaper than a call of `send` for each message. If the port is full, the call blocks like `send` of one message.
    ///
    /// - Parameters:
    ///   - messages: The messages. The collection is iterated once. Each message is either sent or returned in the error.
    ///   - deadline: The time at which the wait ends; nil for never. If it has passed, the call sends the messages that fit.
    /// - Throws: ``PortSendError``, which returns the unsent messages, if the deadline passed, if the port has ended, or if the
    ///   wait for room would never end because the receiver's thread is this thread or waits for this thread. All messages that
    ///   precede the unsent messages in the collection were sent.
    ///
    /// > Thread safety: any thread. Not in a signal handler.
    @inlinable
    public func send(
        contentsOf messages: some Collection<Message>, before deadline: ContinuousClock.Instant? = nil
    ) throws(PortSendError<Message>) {
        try core.post(contentsOf: messages, before: deadline)
    }
}

extension Port where Message == Void {
    /// Sends a signal.
    ///
    /// Signals that have not been received yet are merged into one.
    ///
    /// - Throws: ``PortSendError`` if the port has ended.
    ///
    /// > Thread safety: any thread. Not in a signal handler.
    public func send() throws(PortSendError<Void>) { try send(()) }
}

extension RunLoop {
    /// Adds a port to a mode, and sets the handler of its messages in that mode.
    ///
    /// The loop also delivers messages that were sent to the port before. The loop holds the port until the port is removed from
    /// its last mode or ends. Each mode of a port has its own handler. If the port is in the mode already, the call does nothing,
    /// and the mode keeps its handler. If a handler runs the loop, that inner run delivers the next messages.
    ///
    /// - Parameters:
    ///   - port: The port. It must be in no other loop.
    ///   - mode: The mode, or ``Mode/common`` for all common modes, present and future.
    ///   - handler: Called on the loop's thread with each message.
    ///
    /// > Thread safety: the loop's own thread only.
    @inlinable
    public func add<Message: Sendable>(
        _ port: Port<Message>, forMode mode: Mode, handler: @escaping (Message) -> Void
    ) {
        // The method is inlinable, so that the closure is compiled for the message's type.
        add(port, port.core, forMode: mode) { slot in handler(slot.move(Message.self)) }
    }

    /// Adds a signal port to a mode.
    ///
    /// - Parameters:
    ///   - port: The port. It must be in no other loop.
    ///   - mode: The mode, or ``Mode/common`` for all common modes, present and future.
    ///   - handler: Called on the loop's thread after one or more signals.
    ///
    /// > Thread safety: the loop's own thread only.
    public func add(_ port: Port<Void>, forMode mode: Mode, handler: @escaping () -> Void) {
        add(port, port.core, forMode: mode) { _ in handler() }
    }

    @usableFromInline
    func add(
        _ port: AnyObject, _ portCore: PortCore, forMode mode: Mode, deliver: @escaping (Node.Slot) -> Void
    ) {
        let core = core("RunLoop.add(port)", "perform a block on the loop and add the port there")
        portCore.join(core.readyInputs, mode, port: port, deliver: deliver)
    }
}

extension Port: RunLoopMember {
    /// Removes the port from a mode of a loop; call ``RunLoop/remove(_:forMode:)`` instead.
    ///
    /// Messages that were not delivered wait in the port.
    ///
    /// - Parameters:
    ///   - loop: The loop.
    ///   - mode: The mode, or ``RunLoop/Mode/common`` for all common modes. If the port is not in it, nothing happens.
    ///
    /// > Thread safety: any thread: <doc:Ends>.
    public func remove(from loop: RunLoop, forMode mode: RunLoop.Mode) {
        loop.takePort { [core] in core.leave($0, mode) }
    }

    /// Removes the port from all modes of a loop; call ``RunLoop/remove(_:)`` instead.
    ///
    /// - Parameter loop: The loop. If the port is not in it, nothing happens.
    ///
    /// > Thread safety: any thread: <doc:Ends>.
    public func remove(from loop: RunLoop) {
        loop.takePort { [core] in core.leaveAll($0) }
    }
}

extension Port: CustomStringConvertible {
    /// The type of the messages, and the place where the port was made.
    public var description: String {
        "\(isValid ? "" : "invalid ")port of \(Message.self) made at \(core.origin)"
    }
}
