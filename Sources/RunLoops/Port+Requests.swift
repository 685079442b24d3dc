// Asking for an answer. The overloads that block and those that await are the same but for how they wait.

extension Port {
    /// Sends a message with a right to reply, and blocks until the answer comes.
    ///
    /// An answer comes, or an error: if the right is destroyed unused, if the port ends before the message is received, when
    /// the deadline passes. If the port is full, the message waits in line as other messages do, until the same deadline.
    /// This thread's loop does not run meanwhile. If the receiver's thread is this one, or waits for it, directly or through
    /// others, nothing is sent; a deadline does not change that. If it comes to wait for this one later, in a way that cannot
    /// be refused itself, the request ends with ``RequestError/circle(_:)``: it was sent then, and may be served. The request
    /// is taken to wait for the loop that has the port until it is answered, whoever has the right to.
    ///
    /// ```swift
    /// let price = try prices.request(before: .now + .seconds(1)) { PriceQuestion(item: "tea", reply: $0) }
    /// ```
    ///
    /// - Parameters:
    ///   - deadline: When to give up; nil for never. With one that has passed nothing is sent. What was sent stays in the
    ///     queue; ``ReplyRight/isAwaited`` tells the receiver.
    ///   - fileID: Where the request was made, for diagnostics.
    ///   - line: Where the request was made, for diagnostics.
    ///   - message: Makes the message around the right to reply; called once, unless the port has ended, the deadline has
    ///     passed, or the receiver's thread is this one. What it has made is destroyed if the wait would close a circle.
    /// - Returns: The answer.
    /// - Throws: ``RequestError``: why there is no answer.
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
    /// An answer comes, or an error: if the right is destroyed unused, if the port ends before the message is received, when
    /// the deadline passes, when the task is cancelled. If the port is full, the message waits in line as other messages do,
    /// until then. It may be awaited on the receiver's own loop. A task may wait for a loop that waits for it: that is not
    /// seen.
    ///
    /// - Parameters:
    ///   - deadline: When to give up; nil for never. With one that has passed nothing is sent.
    ///   - fileID: Where the request was made, for diagnostics.
    ///   - line: Where the request was made, for diagnostics.
    ///   - message: Makes the message around the right to reply; called once, unless the request is refused at once, and
    ///     in the actor that asks.
    /// - Returns: The answer.
    /// - Throws: ``RequestError``: why there is no answer.
    ///
    /// > Thread safety: any thread, and in any actor: the answer comes back to it.
    nonisolated(nonsending) public func request<Answer: Sendable>(
        before deadline: ContinuousClock.Instant? = nil, fileID: StaticString = #fileID, line: Int = #line,
        _ message: (ReplyRight<Answer>) -> Message
    ) async throws(RequestError) -> Answer {
        try await core.request(
            before: deadline, SourceLocation(fileID, line), isolation: #isolation, message)
    }

    /// How many answers came too late.
    ///
    /// They are those to requests through this port and its rights whose requester did not wait any more.
    ///
    /// > Thread safety: any thread; it may change at any moment.
    public var lateReplyCount: Int { core.lateReplyCount }
}

extension SendRight {
    /// Sends a message with a right to reply, and blocks until the answer comes.
    ///
    /// As that of ``Port``. The send right is there until it returns.
    ///
    /// - Parameters:
    ///   - deadline: When to give up; nil for never. With one that has passed nothing is sent.
    ///   - fileID: Where the request was made, for diagnostics.
    ///   - line: Where the request was made, for diagnostics.
    ///   - message: Makes the message around the right to reply; called once, unless the port has ended, the deadline has
    ///     passed, or the receiver's thread is this one. What it has made is destroyed if the wait would close a circle.
    /// - Returns: The answer.
    /// - Throws: ``RequestError``: why there is no answer.
    ///
    /// > Thread safety: any thread. Not in a signal handler.
    @available(*, noasync, message: "this blocks the thread; await the asynchronous request instead")
    public func request<Answer: Sendable>(
        before deadline: ContinuousClock.Instant? = nil, fileID: StaticString = #fileID, line: Int = #line,
        _ message: (ReplyRight<Answer>) -> Message
    ) throws(RequestError) -> Answer {
        // The message may wait in line until then, and the receiver would hear of the right's end first.
        defer { withExtendedLifetime(share) {} }
        return try share.core.request(before: deadline, SourceLocation(fileID, line), message)
    }

    /// Sends a message with a right to reply, and awaits the answer without blocking a thread.
    ///
    /// As that of ``Port``. The send right is there until it returns.
    ///
    /// - Parameters:
    ///   - deadline: When to give up; nil for never. With one that has passed nothing is sent.
    ///   - fileID: Where the request was made, for diagnostics.
    ///   - line: Where the request was made, for diagnostics.
    ///   - message: Makes the message around the right to reply; called once, unless the request is refused at once, and
    ///     in the actor that asks.
    /// - Returns: The answer.
    /// - Throws: ``RequestError``: why there is no answer.
    ///
    /// > Thread safety: any thread, and in any actor: the answer comes back to it.
    nonisolated(nonsending) public func request<Answer: Sendable>(
        before deadline: ContinuousClock.Instant? = nil, fileID: StaticString = #fileID, line: Int = #line,
        _ message: (ReplyRight<Answer>) -> Message
    ) async throws(RequestError) -> Answer {
        defer { withExtendedLifetime(share) {} }
        return try await share.core.request(
            before: deadline, SourceLocation(fileID, line), isolation: #isolation, message)
    }

    /// How many answers came too late.
    ///
    /// As ``Port/lateReplyCount``.
    ///
    /// > Thread safety: any thread; it may change at any moment.
    public var lateReplyCount: Int { share.core.lateReplyCount }
}
