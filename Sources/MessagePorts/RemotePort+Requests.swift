internal import RunLoops

extension RemotePort {
    /// Sends a request, and waits for the reply.
    ///
    /// It waits without running this thread's loop. The reply is read by this thread itself, so there is nobody in between. A
    /// reply that comes after the deadline is dropped, and counted: ``lateReplyCount``.
    ///
    /// - Parameters:
    ///   - bytes: What is sent.
    ///   - id: A number that goes with it, whose meaning is up to the two.
    ///   - descriptors: What goes with it; they stay open here, and are the caller's.
    ///   - deadline: When to give up; nil for never.
    /// - Returns: The reply, which is the caller's, with its descriptors.
    /// - Throws: ``MessagePortError``: ``MessagePortError/noReply`` as soon as the other end has dropped the request,
    ///   ``MessagePortError/timedOut``, ``MessagePortError/ended``, and what sending throws. From these three you cannot tell
    ///   whether it was served; retry only what may be done twice.
    ///
    /// > Thread safety: any thread, which it blocks.
    @available(*, noasync, message: "this blocks the thread; await the asynchronous request instead")
    public func request(
        _ bytes: [UInt8] = [], id: UInt32 = 0, descriptors: [CInt] = [],
        before deadline: ContinuousClock.Instant? = nil
    ) throws(MessagePortError) -> MessagePort.Message {
        // Safe: bytes have nothing between them.
        try unsafe request(bytes.span.bytes, id: id, descriptors: descriptors, before: deadline)
    }

    /// Sends a request whose bytes are somewhere in memory, without copying them here, and waits for the reply.
    ///
    /// As the one that takes an array.
    ///
    /// - Parameters:
    ///   - bytes: What is sent.
    ///   - id: A number that goes with it, whose meaning is up to the two.
    ///   - descriptors: What goes with it; they stay open here, and are the caller's.
    ///   - deadline: When to give up; nil for never.
    /// - Returns: The reply, which is the caller's, with its descriptors.
    /// - Throws: ``MessagePortError``: ``MessagePortError/noReply`` as soon as the other end has dropped the request,
    ///   ``MessagePortError/timedOut``, ``MessagePortError/ended``, and what sending throws. From these three you cannot tell
    ///   whether it was served; retry only what may be done twice.
    ///
    /// > Thread safety: any thread, which it blocks.
    @available(*, noasync, message: "this blocks the thread; await the asynchronous request instead")
    public func request(
        _ bytes: RawSpan, id: UInt32 = 0, descriptors: [CInt] = [],
        before deadline: ContinuousClock.Instant? = nil
    ) throws(MessagePortError) -> MessagePort.Message {
        Fork.check("RemotePort.request")
        // A thread that ended here would leave its request in the table, or with it the reading to nobody.
        let cancelling = Cancelling.putOff()
        defer { cancelling.goOn() }
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
                ?? connection.abandon(request, .timedOut)
        } catch { outcome = connection.abandon(request, .system(error)) }
        return try connection.message(outcome)
    }

    /// Sends a request, and waits for the reply without blocking a thread.
    ///
    /// If the task is cancelled, the reply is not waited for any more. Sending itself does not wait for room: where there is
    /// none, this tries again until there is, or until the deadline.
    ///
    /// The first one in a process starts a thread, which reads the replies.
    ///
    /// - Parameters:
    ///   - bytes: What is sent.
    ///   - id: A number that goes with it, whose meaning is up to the two.
    ///   - descriptors: What goes with it; they stay open here, and are the caller's.
    ///   - deadline: When to give up; nil for never.
    /// - Returns: The reply, which is the caller's, with its descriptors.
    /// - Throws: ``MessagePortError``, as the one that blocks, and ``MessagePortError/cancelled``, from which you cannot tell
    ///   either whether it was served.
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

    /// Sends a request as soon as there is room.
    private func begin(
        _ request: PendingRequest, _ bytes: [UInt8], _ id: UInt32, _ descriptors: [CInt],
        _ deadline: ContinuousClock.Instant?
    ) async throws(MessagePortError) {
        var pause = ExponentialBackoff.sending
        while true {
            do {
                // Safe: bytes have nothing between them.
                return try unsafe connection.begin(
                    request, bytes.span.bytes, id: id, descriptors, before: .distantPast)
            } catch {
                if error != .timedOut { throw error }
            }
            if let deadline, deadline <= .now { throw .timedOut }
            let next = ContinuousClock.now + pause.begin()
            do {
                try await Task.sleep(until: min(next, deadline ?? next), clock: .continuous)
            } catch { throw .cancelled }
        }
    }
}

extension RemoteConnection {
    /// Waits, in a task, until a request is decided: by its reply, the deadline, or the task's cancellation.
    fileprivate func wait(for request: PendingRequest, before deadline: ContinuousClock.Instant?) async {
        let end = deadline.map { Moment($0) } ?? .never
        let alarm: Task<Void, Never>? =
            end == .never
            ? nil
            : Task {
                do { try await Task.sleep(until: end.instant, clock: .continuous) } catch { return }
                abandon(request, .timedOut)
            }
        defer { alarm?.cancel() }
        await withTaskCancellationHandler {
            await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
                let waits = state.withLock { _ in request.attach(.task { continuation.resume() }) }
                if !waits { continuation.resume() }
            }
        } onCancel: {
            abandon(request, .cancelled)
        }
    }
}
