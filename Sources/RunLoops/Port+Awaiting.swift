// Sending from tasks, and news of room for handlers. The awaiting overloads differ from the blocking ones only in the way they
// wait.

extension Port {
    /// Sends a message, and awaits room for it without blocking a thread.
    ///
    /// Returns as soon as the message is queued; if there is room, that is at once. If the port is full, the message waits in the
    /// same line as those of threads that block, first come, first served. You can await it on the receiver's own loop. The
    /// library does not detect a task that waits for a loop that waits for it.
    ///
    /// A task that is cancelled while it waits leaves the line. If it was cancelled before, the call tries once and does not wait.
    ///
    /// - Parameter message: The message, which the receiver owns once it is sent.
    /// - Throws: ``PortSendError``, which gives the message back: the port has ended, or the task was cancelled.
    ///
    /// > Thread safety: any thread, and any actor; the call returns to the actor that made it.
    @inlinable
    nonisolated(nonsending) public func send(
        _ message: consuming Message
    ) async throws(PortSendError<Message>) {
        try await core.postAwaiting(message, before: nil, isolation: #isolation)
    }

    /// Sends a message before a deadline, and awaits room for it without blocking a thread.
    ///
    /// The same as the awaiting `send` without a deadline, but waits for room only until the deadline.
    ///
    /// - Parameters:
    ///   - message: The message, which the receiver owns once it is sent.
    ///   - deadline: The time at which the wait ends. If it has passed, the call tries once and does not wait.
    /// - Throws: ``PortSendError``, which gives the message back: the deadline passed, the port has ended, or the task was
    ///   cancelled.
    ///
    /// > Thread safety: any thread, and any actor; the call returns to the actor that made it.
    @inlinable
    nonisolated(nonsending) public func send(
        _ message: consuming Message, before deadline: ContinuousClock.Instant
    ) async throws(PortSendError<Message>) {
        try await core.postAwaiting(message, before: deadline, isolation: #isolation)
    }

    /// Sends messages in order, several at a time if there is room, and awaits room for them without blocking a thread.
    ///
    /// Other senders may send in between, if there is no room for all.
    ///
    /// - Parameters:
    ///   - messages: The messages. The collection is iterated once, and each message that it gives is sent or given back.
    ///   - deadline: The time at which the wait ends; nil for never. If it has passed, the call sends the messages that fit.
    /// - Throws: ``PortSendError``, which gives back the messages that were not sent. Those before them were.
    ///
    /// > Thread safety: any thread, and any actor; the call returns to the actor that made it.
    @inlinable
    nonisolated(nonsending) public func send(
        contentsOf messages: some Collection<Message>, before deadline: ContinuousClock.Instant? = nil
    ) async throws(PortSendError<Message>) {
        try await core.postAwaiting(contentsOf: messages, before: deadline, isolation: #isolation)
    }

    /// Adds a handler that this thread's loop calls once when sending a message would not wait.
    ///
    /// That is when the port has room and no sender waits in front, or when the port has ended; if it is so now, the handler is
    /// called soon. Use it where a handler finds the port full and must not block its loop: stop reading from the connection
    /// that the messages come from, and go on in the handler.
    ///
    /// ```swift
    /// do {
    ///     try port.send(message, before: .distantPast)
    /// } catch {
    ///     connection.pause(keeping: error.messages)
    ///     port.onRoom { connection.resume() }
    /// }
    /// ```
    ///
    /// Handlers and senders that wait are served in the order in which they came. A handler takes no room: another sender may
    /// have filled the port again by the time the loop calls it. Then ask again.
    ///
    /// The handler is called in the common modes, never during this call. If the loop ends first, the handler is destroyed with
    /// it, on its thread, without having been called.
    ///
    /// - Parameters:
    ///   - fileID: The file of the call, for diagnostics.
    ///   - line: The line of the call, for diagnostics.
    ///   - handler: The handler.
    ///
    /// > Thread safety: any thread; the handler is called on this one. Not in asynchronous code, where the thread may
    /// > change, and which awaits `send` instead.
    @available(*, noasync, message: "the thread may change at any await; await send instead")
    public func onRoom(fileID: StaticString = #fileID, line: Int = #line, _ handler: @escaping () -> Void) {
        core.onRoom(LoopCallback(RunLoop.current, SourceLocation(fileID, line), handler))
    }
}

extension SendRight {
    /// Sends a message, and awaits room for it without blocking a thread.
    ///
    /// The same as the awaiting `send` of ``Port``. The send right is held until the call returns.
    ///
    /// - Parameter message: The message, which the receiver owns once it is sent.
    /// - Throws: ``PortSendError``, which gives the message back: the port has ended, or the task was cancelled.
    ///
    /// > Thread safety: any thread, and any actor; the call returns to the actor that made it.
    @inlinable
    nonisolated(nonsending) public func send(
        _ message: consuming Message
    ) async throws(PortSendError<Message>) {
        defer { withExtendedLifetime(share) {} }
        try await share.core.postAwaiting(message, before: nil, isolation: #isolation)
    }

    /// Sends a message before a deadline, and awaits room for it without blocking a thread.
    ///
    /// The same as the awaiting `send` of ``Port``. The send right is held until the call returns.
    ///
    /// - Parameters:
    ///   - message: The message, which the receiver owns once it is sent.
    ///   - deadline: The time at which the wait ends. If it has passed, the call tries once and does not wait.
    /// - Throws: ``PortSendError``, which gives the message back: the deadline passed, the port has ended, or the task was
    ///   cancelled.
    ///
    /// > Thread safety: any thread, and any actor; the call returns to the actor that made it.
    @inlinable
    nonisolated(nonsending) public func send(
        _ message: consuming Message, before deadline: ContinuousClock.Instant
    ) async throws(PortSendError<Message>) {
        defer { withExtendedLifetime(share) {} }
        try await share.core.postAwaiting(message, before: deadline, isolation: #isolation)
    }

    /// Sends messages in order, several at a time if there is room, and awaits room for them without blocking a thread.
    ///
    /// The same as the awaiting `send(contentsOf:before:)` of ``Port``. The send right is held until the call returns.
    ///
    /// - Parameters:
    ///   - messages: The messages. The collection is iterated once, and each message that it gives is sent or given back.
    ///   - deadline: The time at which the wait ends; nil for never. If it has passed, the call sends the messages that fit.
    /// - Throws: ``PortSendError``, which gives back the messages that were not sent. Those before them were.
    ///
    /// > Thread safety: any thread, and any actor; the call returns to the actor that made it.
    @inlinable
    nonisolated(nonsending) public func send(
        contentsOf messages: some Collection<Message>, before deadline: ContinuousClock.Instant? = nil
    ) async throws(PortSendError<Message>) {
        defer { withExtendedLifetime(share) {} }
        try await share.core.postAwaiting(contentsOf: messages, before: deadline, isolation: #isolation)
    }

    /// Adds a handler that this thread's loop calls once when sending a message would not wait.
    ///
    /// The same as ``Port/onRoom(fileID:line:_:)``. The handler is also called if the right has ended meanwhile.
    ///
    /// - Parameters:
    ///   - fileID: The file of the call, for diagnostics.
    ///   - line: The line of the call, for diagnostics.
    ///   - handler: The handler.
    ///
    /// > Thread safety: any thread; the handler is called on this one. Not in asynchronous code, where the thread may
    /// > change.
    @available(*, noasync, message: "the thread may change at any await; await send instead")
    public func onRoom(fileID: StaticString = #fileID, line: Int = #line, _ handler: @escaping () -> Void) {
        share.core.onRoom(LoopCallback(RunLoop.current, SourceLocation(fileID, line), handler))
    }
}
