internal import RunLoops

extension RemotePort {
    /// Sends a request, and blocks until the reply arrives.
    ///
    /// This does not run the thread's loop. The thread reads the reply itself, so that no other thread has to wake it. A reply
    /// that arrives after the deadline is discarded, and counted: ``lateReplyCount``.
    ///
    /// - Parameters:
    ///   - bytes: The bytes of the request.
    ///   - id: A number that the request carries. Its meaning is up to the two programs.
    ///   - descriptors: The descriptors to duplicate for the port. They stay open in this process, and the caller still owns them.
    ///   - deadline: The time to give up, or nil for never.
    /// - Returns: The reply with its descriptors, which the caller owns.
    /// - Throws: ``MessagePortError/Reason/noReply`` as soon as the other end has released the right to reply without a reply,
    ///   ``MessagePortError/Reason/timedOut`` if the deadline passes, ``MessagePortError/Reason/ended`` if the connection ends, or
    ///   another ``MessagePortError`` if the request cannot be sent. After the first three errors, you cannot tell whether the
    ///   request was served. Retry only operations that may be done twice.
    ///
    /// > Thread safety: any thread, which it blocks.
    @available(*, noasync, message: "this blocks the thread; await the asynchronous request instead")
    public func request(
        _ bytes: [UInt8] = [], id: UInt32 = 0, descriptors: [CInt] = [],
        before deadline: ContinuousClock.Instant? = nil
    ) throws(MessagePortError) -> MessagePort.Message {
        // Safe: bytes have no padding.
        try unsafe request(bytes.span.bytes, id: id, descriptors: descriptors, before: deadline)
    }

    /// Sends a request with the bytes of a span, without copying them to an array, and blocks until the reply arrives.
    ///
    /// Otherwise the same as the function that takes an array.
    ///
    /// - Parameters:
    ///   - bytes: The bytes of the request.
    ///   - id: A number that the request carries. Its meaning is up to the two programs.
    ///   - descriptors: The descriptors to duplicate for the port. They stay open in this process, and the caller still owns them.
    ///   - deadline: The time to give up, or nil for never.
    /// - Returns: The reply with its descriptors, which the caller owns.
    /// - Throws: ``MessagePortError/Reason/noReply`` as soon as the other end has released the right to reply without a reply,
    ///   ``MessagePortError/Reason/timedOut`` if the deadline passes, ``MessagePortError/Reason/ended`` if the connection ends, or
    ///   another ``MessagePortError`` if the request cannot be sent. After the first three errors, you cannot tell whether the
    ///   request was served. Retry only operations that may be done twice.
    ///
    /// > Thread safety: any thread, which it blocks.
    @available(*, noasync, message: "this blocks the thread; await the asynchronous request instead")
    public func request(
        _ bytes: RawSpan, id: UInt32 = 0, descriptors: [CInt] = [],
        before deadline: ContinuousClock.Instant? = nil
    ) throws(MessagePortError) -> MessagePort.Message {
        Fork.check("RemotePort.request")
        // If the thread ended here, its request would stay in the table, and if the thread was the reader, no other thread would
        // read.
        let cancellation = ThreadCancellation.disable()
        defer { cancellation.restore() }
        do { return try ask(bytes, id, descriptors, deadline) } catch { throw error.about(origin) }
    }

    private func ask(
        _ bytes: RawSpan, _ id: UInt32, _ descriptors: [CInt], _ deadline: ContinuousClock.Instant?
    ) throws(MessagePortError) -> MessagePort.Message {
        let request = PendingRequest(isTask: false)
        let wait = try connection.beginWait(for: request, before: deadline)
        defer { wait?.end() }
        try connection.begin(request, bytes, id: id, descriptors, before: deadline)
        let outcome: PendingRequest.Outcome
        do {
            outcome =
                try connection.wait(for: request, before: deadline)
                ?? connection.abandon(request, MessagePortError(.timedOut))
        } catch { outcome = connection.abandon(request, .system(error)) }
        return try connection.message(outcome)
    }

    /// Sends a request, and waits for the reply without blocking a thread.
    ///
    /// Sending the request does not block a thread, either: if there is no room, the call retries until there is room, or until the
    /// deadline. If the task is cancelled, the call stops waiting for the reply.
    ///
    /// The first request of this kind in a process starts a thread, which reads the replies.
    ///
    /// - Parameters:
    ///   - bytes: The bytes of the request.
    ///   - id: A number that the request carries. Its meaning is up to the two programs.
    ///   - descriptors: The descriptors to duplicate for the port. They stay open in this process, and the caller still owns them.
    ///   - deadline: The time to give up, or nil for never.
    /// - Returns: The reply with its descriptors, which the caller owns.
    /// - Throws: The errors of the blocking request, or ``MessagePortError/Reason/cancelled``. After
    ///   ``MessagePortError/Reason/cancelled``, too, you cannot tell whether the request was served.
    ///
    /// > Thread safety: any task.
    public func request(
        _ bytes: [UInt8] = [], id: UInt32 = 0, descriptors: [CInt] = [],
        before deadline: ContinuousClock.Instant? = nil
    ) async throws(MessagePortError) -> MessagePort.Message {
        Fork.check("RemotePort.request")
        do { try connection.watchWithService() } catch { throw .system(error) }
        let request = PendingRequest(isTask: true)
        do {
            try await begin(request, bytes, id, descriptors, deadline)
            connection.ensureReader()
            await connection.wait(for: request, before: deadline)
            guard let outcome = request.outcome else { preconditionFailure("the wait is over") }
            return try connection.message(outcome)
        } catch { throw error.about(origin) }
    }

    /// Adds a request to the connection's ``RequestTable``, and sends it as soon as there is room.
    private func begin(
        _ request: PendingRequest, _ bytes: [UInt8], _ id: UInt32, _ descriptors: [CInt],
        _ deadline: ContinuousClock.Instant?
    ) async throws(MessagePortError) {
        var backoff = ExponentialBackoff.sending
        while true {
            do {
                // Safe: bytes have no padding.
                return try unsafe connection.begin(
                    request, bytes.span.bytes, id: id, descriptors, before: .distantPast)
            } catch {
                if error.reason != .timedOut { throw error }
            }
            if let deadline, deadline <= .now { throw MessagePortError(.timedOut) }
            let next = ContinuousClock.now + backoff.begin()
            do {
                try await Task.sleep(until: min(next, deadline ?? next), clock: .continuous)
            } catch { throw MessagePortError(.cancelled) }
        }
    }
}

extension RemoteConnection {
    /// Waits, in a task, until a request is decided: by its reply, the deadline, or the task's cancellation.
    fileprivate func wait(for request: PendingRequest, before deadline: ContinuousClock.Instant?) async {
        // The wait ends with nil if the request is decided, and otherwise with the reason to give up.
        let wake = OneShot<MessagePortError?>()
        let reason = await wake.value(
            before: deadline.map { Moment($0) } ?? .never, timedOut: MessagePortError(.timedOut),
            cancelled: MessagePortError(.cancelled)
        ) {
            let waits = state.withLock { _ in request.attach(.task { wake.decide(nil) }) }
            if !waits { wake.decide(nil) }
        }
        if let reason { abandon(request, reason) }
    }
}
