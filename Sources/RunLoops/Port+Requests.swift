// Requests. The overloads that block and those that await differ only in the way they wait.

extension Port {
    /// Sends a message with a right to reply, and blocks until the answer comes.
    ///
    /// The call throws if the right is destroyed unused, if the port ends before the message is received, or when the deadline
    /// passes. If the port is full, the message waits in line as other messages do, until the same deadline. This thread's loop
    /// does not run meanwhile.
    ///
    /// If the receiver's thread is this one, or waits for it, directly or through others, nothing is sent; a deadline does not
    /// change that. If the receiver's thread begins to wait for this one later, in a way that cannot be refused itself, the
    /// request ends with ``RequestError/circle(_:)``: it was sent then, and may be served. Until it is answered, the request
    /// counts as a wait for the loop that has the port, whichever thread has the right to reply: <doc:Deadlocks>.
    ///
    /// ```swift
    /// let price = try prices.request(before: .now + .seconds(1)) { PriceQuestion(item: "tea", reply: $0) }
    /// ```
    ///
    /// - Parameters:
    ///   - deadline: The time at which the wait ends; nil for never. If it has passed, nothing is sent. A message that was sent
    ///     stays in the queue; ``ReplyRight/isAwaited`` is false then.
    ///   - fileID: The file of the call, for diagnostics.
    ///   - line: The line of the call, for diagnostics.
    ///   - message: Makes the message around the right to reply; called once, unless the port has ended, the deadline has
    ///     passed, or the receiver's thread is this one. If the wait would close a circle, the message is destroyed.
    /// - Returns: The answer.
    /// - Throws: ``RequestError``, the reason for which there is no answer.
    ///
    /// > Thread safety: any thread. Not in a signal handler.
    @available(*, noasync, message: "this blocks the thread; await the asynchronous request instead")
    public func request<Answer: Sendable>(
        before deadline: ContinuousClock.Instant? = nil, fileID: StaticString = #fileID, line: Int = #line,
        _ message: (ReplyRight<Answer>) -> Message
    ) throws(RequestError) -> Answer {
        try core.request(before: deadline, SourceLocation(fileID, line), message)
    }

    /// Sends a message with a right to reply, and awaits the answer without blocking a thread.
    ///
    /// The call throws if the right is destroyed unused, if the port ends before the message is received, when the deadline
    /// passes, or when the task is cancelled. If the port is full, the message waits in line as other messages do, until then.
    /// You can await it on the receiver's own loop. The library does not detect a task that waits for a loop that waits for it.
    ///
    /// - Parameters:
    ///   - deadline: The time at which the wait ends; nil for never. If it has passed, nothing is sent.
    ///   - fileID: The file of the call, for diagnostics.
    ///   - line: The line of the call, for diagnostics.
    ///   - message: Makes the message around the right to reply; called once, in the actor that makes the request, unless the
    ///     request is refused at once.
    /// - Returns: The answer.
    /// - Throws: ``RequestError``, the reason for which there is no answer.
    ///
    /// > Thread safety: any thread, and any actor; the call returns to the actor that made it.
    nonisolated(nonsending) public func request<Answer: Sendable>(
        before deadline: ContinuousClock.Instant? = nil, fileID: StaticString = #fileID, line: Int = #line,
        _ message: (ReplyRight<Answer>) -> Message
    ) async throws(RequestError) -> Answer {
        try await core.request(
            before: deadline, SourceLocation(fileID, line), isolation: #isolation, message)
    }

    /// The number of answers that came too late.
    ///
    /// They answered requests through this port and its rights whose requester did not wait any more.
    ///
    /// > Thread safety: any thread; it may change at any moment.
    public var lateReplyCount: Int { core.lateReplyCount }
}

extension SendRight {
    /// Sends a message with a right to reply, and blocks until the answer comes.
    ///
    /// The same as `request` of ``Port``. The send right is held until the call returns.
    ///
    /// - Parameters:
    ///   - deadline: The time at which the wait ends; nil for never. If it has passed, nothing is sent.
    ///   - fileID: The file of the call, for diagnostics.
    ///   - line: The line of the call, for diagnostics.
    ///   - message: Makes the message around the right to reply; called once, unless the port has ended, the deadline has
    ///     passed, or the receiver's thread is this one. If the wait would close a circle, the message is destroyed.
    /// - Returns: The answer.
    /// - Throws: ``RequestError``, the reason for which there is no answer.
    ///
    /// > Thread safety: any thread. Not in a signal handler.
    @available(*, noasync, message: "this blocks the thread; await the asynchronous request instead")
    public func request<Answer: Sendable>(
        before deadline: ContinuousClock.Instant? = nil, fileID: StaticString = #fileID, line: Int = #line,
        _ message: (ReplyRight<Answer>) -> Message
    ) throws(RequestError) -> Answer {
        // The message may wait in line until then, and the notice of the right's end would otherwise be served before it.
        defer { withExtendedLifetime(share) {} }
        return try share.core.request(before: deadline, SourceLocation(fileID, line), message)
    }

    /// Sends a message with a right to reply, and awaits the answer without blocking a thread.
    ///
    /// The same as `request` of ``Port``. The send right is held until the call returns.
    ///
    /// - Parameters:
    ///   - deadline: The time at which the wait ends; nil for never. If it has passed, nothing is sent.
    ///   - fileID: The file of the call, for diagnostics.
    ///   - line: The line of the call, for diagnostics.
    ///   - message: Makes the message around the right to reply; called once, in the actor that makes the request, unless the
    ///     request is refused at once.
    /// - Returns: The answer.
    /// - Throws: ``RequestError``, the reason for which there is no answer.
    ///
    /// > Thread safety: any thread, and any actor; the call returns to the actor that made it.
    nonisolated(nonsending) public func request<Answer: Sendable>(
        before deadline: ContinuousClock.Instant? = nil, fileID: StaticString = #fileID, line: Int = #line,
        _ message: (ReplyRight<Answer>) -> Message
    ) async throws(RequestError) -> Answer {
        defer { withExtendedLifetime(share) {} }
        return try await share.core.request(
            before: deadline, SourceLocation(fileID, line), isolation: #isolation, message)
    }

    /// The number of answers that came too late.
    ///
    /// The same as ``Port/lateReplyCount``.
    ///
    /// > Thread safety: any thread; it may change at any moment.
    public var lateReplyCount: Int { share.core.lateReplyCount }
}
