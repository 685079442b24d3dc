// Sending from tasks, and handlers for room. The awaiting overloads differ from the blocking overloads only in the way they wait.

extension Port {
    /// Sends a message, and awaits room for it without blocking a thread.
    ///
    /// The call returns as soon as the message is queued, which is immediately if there is room. If the port is full, the task
    /// waits in the same queue as the threads that block in `send`, first come, first served. You can await the call on the
    /// receiver's own loop. The library does not detect a deadlock between a task and a loop that wait for each other.
    ///
    /// A task that is cancelled while it waits leaves the queue. If the task was cancelled before the call, the call tries once and
    /// does not wait.
    ///
    /// - Parameter message: The message. The receiver owns it after the call has sent it.
    /// - Throws: ``PortSendError``, which returns the unsent message, if the port has ended or the task was cancelled.
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
    /// This is the same as the awaiting `send` without a deadline, but it waits for room only until the deadline.
    ///
    /// - Parameters:
    ///   - message: The message. The receiver owns it after the call has sent it.
    ///   - deadline: The time at which the wait ends. If it has passed, the call tries once and does not wait.
    /// - Throws: ``PortSendError``, which returns the unsent message, if the deadline passed, the port has ended or the task was
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
    /// If there is no room for all messages, other senders can send in between.
    ///
    /// - Parameters:
    ///   - messages: The messages. The collection is iterated once. Each message is either sent or returned in the error.
    ///   - deadline: The time at which the wait ends; nil for never. If it has passed, the call sends the messages that fit.
    /// - Throws: ``PortSendError``, which returns the unsent messages, if the deadline passed, the port has ended or the task was
    ///   cancelled. All messages that precede the unsent messages in the collection were sent.
    ///
    /// > Thread safety: any thread, and any actor; the call returns to the actor that made it.
    @inlinable
    nonisolated(nonsending) public func send(
        contentsOf messages: some Collection<Message>, before deadline: ContinuousClock.Instant? = nil
    ) async throws(PortSendError<Message>) {
        try await core.postAwaiting(contentsOf: messages, before: deadline, isolation: #isolation)
    }

    /// Adds a handler that this thread's loop calls, once, when a message can be sent without waiting.
    ///
    /// Sending does not wait in two cases: the port has room and no other sender waits for room, or the port has ended. If one of
    /// them is already the case, the handler is called soon. Use this method in a handler that finds the port full and must not
    /// block its loop: stop reading from the connection that the messages come from, and resume in the handler.
    ///
    /// ```swift
    /// do {
    ///     try port.send(message, before: .distantPast)
    /// } catch {
    ///     connection.pause(keeping: error.messages)
    ///     port.addRoomHandler { connection.resume() }
    /// }
    /// ```
    ///
    /// Waiting handlers and senders are served in the order of their calls. A handler reserves no room: another sender can fill the
    /// port before the loop calls the handler. If the handler finds the port full again, call this method again.
    ///
    /// The handler is called in the common modes, and never during this call. If the loop ends first, it destroys the handler on
    /// its thread, without calling it.
    ///
    /// - Parameters:
    ///   - fileID: The file of the call, for diagnostics.
    ///   - line: The line of the call, for diagnostics.
    ///   - handler: The handler.
    ///
    /// > Thread safety: any thread; the handler is called on this thread. Not in asynchronous code, where the thread can change:
    /// > await `send` there.
    @available(*, noasync, message: "the thread may change at any await; await send instead")
    public func addRoomHandler(
        fileID: StaticString = #fileID, line: Int = #line, _ handler: @escaping () -> Void
    ) {
        core.addRoomHandler(LoopCallback(RunLoop.current, SourceLocation(fileID, line), handler))
    }
}

extension SendRight {
    /// Sends a message, and awaits room for it without blocking a thread.
    ///
    /// This is the same as the awaiting `send` of ``Port``. The call holds the send right until it returns.
    ///
    /// - Parameter message: The message. The receiver owns it after the call has sent it.
    /// - Throws: ``PortSendError``, which returns the unsent message, if the port has ended or the task was cancelled.
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
    /// This is the same as the awaiting `send` of ``Port``. The call holds the send right until it returns.
    ///
    /// - Parameters:
    ///   - message: The message. The receiver owns it after the call has sent it.
    ///   - deadline: The time at which the wait ends. If it has passed, the call tries once and does not wait.
    /// - Throws: ``PortSendError``, which returns the unsent message, if the deadline passed, the port has ended or the task was
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
    /// This is the same as the awaiting `send(contentsOf:before:)` of ``Port``. The call holds the send right until it returns.
    ///
    /// - Parameters:
    ///   - messages: The messages. The collection is iterated once. Each message is either sent or returned in the error.
    ///   - deadline: The time at which the wait ends; nil for never. If it has passed, the call sends the messages that fit.
    /// - Throws: ``PortSendError``, which returns the unsent messages, if the deadline passed, the port has ended or the task was
    ///   cancelled. All messages that precede the unsent messages in the collection were sent.
    ///
    /// > Thread safety: any thread, and any actor; the call returns to the actor that made it.
    @inlinable
    nonisolated(nonsending) public func send(
        contentsOf messages: some Collection<Message>, before deadline: ContinuousClock.Instant? = nil
    ) async throws(PortSendError<Message>) {
        defer { withExtendedLifetime(share) {} }
        try await share.core.postAwaiting(contentsOf: messages, before: deadline, isolation: #isolation)
    }

    /// Adds a handler that this thread's loop calls, once, when a message can be sent without waiting.
    ///
    /// This is the same as ``Port/addRoomHandler(fileID:line:_:)``. The handler is also called if the right has ended in the meantime.
    ///
    /// - Parameters:
    ///   - fileID: The file of the call, for diagnostics.
    ///   - line: The line of the call, for diagnostics.
    ///   - handler: The handler.
    ///
    /// > Thread safety: any thread; the handler is called on this thread. Not in asynchronous code, where the thread can change.
    @available(*, noasync, message: "the thread may change at any await; await send instead")
    public func addRoomHandler(
        fileID: StaticString = #fileID, line: Int = #line, _ handler: @escaping () -> Void
    ) {
        share.core.addRoomHandler(LoopCallback(RunLoop.current, SourceLocation(fileID, line), handler))
    }
}
