// Requests. The awaiting overloads differ from the blocking overloads only in the way they wait.

extension Port {
    /// Sends a message with a right to reply, and blocks until the answer arrives.
    ///
    /// The call throws if the right is destroyed unused, if the port ends before the message is received, or if the deadline
    /// passes. If the port is full, the call queues behind the senders that already wait for room, at most until the same
    /// deadline. This thread's loop does not run in the meantime.
    ///
    /// If the receiver's thread is this thread, or waits for this thread directly or through other threads, the wait would last for
    /// ever. In that case nothing is sent, with or without a deadline. If the receiver's thread begins to wait for this thread
    /// later, and that wait cannot be refused, this request ends with ``RequestError/Reason/wouldDeadlock``; the receiver can still
    /// serve the message. For the detection of deadlocks, a request that waits for its answer is a wait for the port's loop,
    /// whichever thread has the right to reply: <doc:Deadlocks>.
    ///
    /// ```swift
    /// let price = try prices.request(before: .now + .seconds(1)) { PriceQuestion(item: "tea", asker: $0) }
    /// ```
    ///
    /// - Parameters:
    ///   - deadline: The time at which the wait ends; nil for never. If it has passed, nothing is sent. After the deadline, a sent
    ///     message stays in the queue, and its ``ReplyRight/isAwaited`` is false.
    ///   - fileID: The file of the call, for diagnostics.
    ///   - line: The line of the call, for diagnostics.
    ///   - message: The closure that makes the message with the right to reply. It is called once, unless the port has ended, the
    ///     deadline has passed, or the receiver's thread is this thread. If the wait would close a circle of
    ///     waiting threads, the message is destroyed.
    /// - Returns: The answer.
    /// - Throws: ``RequestError`` if there is no answer; the error gives the reason.
    ///
    /// > Thread safety: any thread. Not in a signal handler.
    @available(*, noasync, message: "this blocks the thread; await the asynchronous request instead")
    @inlinable
    public func request<Reply: Sendable>(
        before deadline: ContinuousClock.Instant? = nil, fileID: StaticString = #fileID, line: Int = #line,
        _ message: (ReplyRight<Reply>) -> Message
    ) throws(RequestError) -> Reply {
        try core.request(before: deadline, SourceLocation(fileID, line), message)
    }

    /// Sends a message with a right to reply, and awaits the answer without blocking a thread.
    ///
    /// The call throws if the right is destroyed unused, if the port ends before the message is received, if the deadline passes,
    /// or if the task is cancelled. If the port is full, the task queues behind the senders that already wait for room. You can
    /// await the call on the receiver's own loop. The library does not detect a deadlock between a task and a loop that wait for
    /// each other.
    ///
    /// - Parameters:
    ///   - deadline: The time at which the wait ends; nil for never. If it has passed, nothing is sent.
    ///   - fileID: The file of the call, for diagnostics.
    ///   - line: The line of the call, for diagnostics.
    ///   - message: The closure that makes the message with the right to reply. It is called once, in the actor that makes the
    ///     request, unless the request is refused immediately.
    /// - Returns: The answer.
    /// - Throws: ``RequestError`` if there is no answer; the error gives the reason.
    ///
    /// > Thread safety: any thread, and any actor; the call returns to the actor that made it.
    @inlinable
    nonisolated(nonsending) public func request<Reply: Sendable>(
        before deadline: ContinuousClock.Instant? = nil, fileID: StaticString = #fileID, line: Int = #line,
        _ message: (ReplyRight<Reply>) -> Message
    ) async throws(RequestError) -> Reply {
        try await core.request(
            before: deadline, SourceLocation(fileID, line), isolation: #isolation, message)
    }

    /// The number of answers that arrived too late.
    ///
    /// An answer is too late if the requester no longer waits for it. The number includes the answers to requests that were sent
    /// through this port and to those that were sent through its send rights.
    ///
    /// > Thread safety: any thread; the value can change at any moment.
    public var lateReplyCount: Int { core.lateReplyCount }
}

extension SendRight {
    /// Sends a message with a right to reply, and blocks until the answer arrives.
    ///
    /// This is the same as `request` of ``Port``. The call holds the send right until it returns.
    ///
    /// - Parameters:
    ///   - deadline: The time at which the wait ends; nil for never. If it has passed, nothing is sent.
    ///   - fileID: The file of the call, for diagnostics.
    ///   - line: The line of the call, for diagnostics.
    ///   - message: The closure that makes the message with the right to reply. It is called once, unless the port has ended, the
    ///     deadline has passed, or the receiver's thread is this thread. If the wait would close a circle of
    ///     waiting threads, the message is destroyed.
    /// - Returns: The answer.
    /// - Throws: ``RequestError`` if there is no answer; the error gives the reason.
    ///
    /// > Thread safety: any thread. Not in a signal handler.
    @available(*, noasync, message: "this blocks the thread; await the asynchronous request instead")
    @inlinable
    public func request<Reply: Sendable>(
        before deadline: ContinuousClock.Instant? = nil, fileID: StaticString = #fileID, line: Int = #line,
        _ message: (ReplyRight<Reply>) -> Message
    ) throws(RequestError) -> Reply {
        // The call holds the right until it returns, because the message can wait for room during the call. If the right ended in
        // the meantime, the notice of its end would be served before the message.
        defer { withExtendedLifetime(share) {} }
        return try share.core.request(before: deadline, SourceLocation(fileID, line), message)
    }

    /// Sends a message with a right to reply, and awaits the answer without blocking a thread.
    ///
    /// This is the same as `request` of ``Port``. The call holds the send right until it returns.
    ///
    /// - Parameters:
    ///   - deadline: The time at which the wait ends; nil for never. If it has passed, nothing is sent.
    ///   - fileID: The file of the call, for diagnostics.
    ///   - line: The line of the call, for diagnostics.
    ///   - message: The closure that makes the message with the right to reply. It is called once, in the actor that makes the
    ///     request, unless the request is refused immediately.
    /// - Returns: The answer.
    /// - Throws: ``RequestError`` if there is no answer; the error gives the reason.
    ///
    /// > Thread safety: any thread, and any actor; the call returns to the actor that made it.
    @inlinable
    nonisolated(nonsending) public func request<Reply: Sendable>(
        before deadline: ContinuousClock.Instant? = nil, fileID: StaticString = #fileID, line: Int = #line,
        _ message: (ReplyRight<Reply>) -> Message
    ) async throws(RequestError) -> Reply {
        defer { withExtendedLifetime(share) {} }
        return try await share.core.request(
            before: deadline, SourceLocation(fileID, line), isolation: #isolation, message)
    }

    /// The number of answers that arrived too late.
    ///
    /// This is the same as ``Port/lateReplyCount``.
    ///
    /// > Thread safety: any thread; the value can change at any moment.
    package var lateReplyCount: Int { share.core.lateReplyCount }
}
