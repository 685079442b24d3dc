internal import RunLoops

// Sending, from any thread.

extension RemoteConnection {
    /// Sends a message.
    ///
    /// If the socket has no room, the call blocks until there is room, or until the deadline.
    func send(
        _ frame: Frame, _ body: RawSpan, _ descriptors: [CInt], before deadline: ContinuousClock.Instant?
    ) throws(MessagePortError) {
        if let ended = state.withLock({ $0.ended }) { throw ended }
        try transmit(frame, body, descriptors, before: deadline)
    }

    /// Sends a packet over a connection that the caller has found open.
    private func transmit(
        _ frame: Frame, _ body: RawSpan, _ descriptors: [CInt], before deadline: ContinuousClock.Instant?
    ) throws(MessagePortError) {
        var backoff = ExponentialBackoff.sending
        try waitForAdmission(&backoff, before: deadline).check(body, descriptors)
        while true {
            switch socket.sendMakingRoom(frame, body: body, descriptors: descriptors) {
            case .sent: return
            case .wouldBlock: try waitForRoom(before: deadline)
            case .outOfKernelResources: try waitForResources(&backoff, before: deadline)
            case .closed:
                peerHungUp()
                throw MessagePortError(.ended)
            case .tooLarge(let limit): throw .tooLarge(limit: limit - Frame.headLength)
            case .failed(let error): throw .system(error)
            }
            if let ended = state.withLock({ $0.ended }) { throw ended }
        }
    }

    /// Sends a message if there is room for it now.
    ///
    /// - Returns: False if there is no room. If a loop reads the connection, the loop calls the `onRoom` handler later.
    func trySend(_ frame: Frame, _ body: RawSpan, _ descriptors: [CInt]) throws(MessagePortError) -> Bool {
        let (limits, ended) = state.withLock { ($0.limits, $0.ended) }
        if let ended { throw ended }
        guard let limits else {
            reading?.awaitRoom(in: socket, isAdmitted: false)
            // The call above records that a sender waits. If the port admitted this process just before, the loop found no waiting
            // sender, and did not make the set report room. So this thread makes the set report room.
            if wasAdmitted { reading?.awaitRoom(in: socket, isAdmitted: true) }
            return false
        }
        try limits.check(body, descriptors)
        switch socket.sendMakingRoom(frame, body: body, descriptors: descriptors) {
        case .sent:
            reading?.hasSent()
            return true
        case .wouldBlock:
            reading?.awaitRoom(in: socket, isAdmitted: true)
            return false
        case .outOfKernelResources:
            do { try reading?.awaitResources() } catch { throw .system(error) }
            return false
        case .closed:
            peerHungUp()
            throw MessagePortError(.ended)
        case .tooLarge(let limit): throw .tooLarge(limit: limit - Frame.headLength)
        case .failed(let error): throw .system(error)
        }
    }

    /// Waits until the port has admitted this process.
    ///
    /// - Returns: The port's limits.
    private func waitForAdmission(
        _ backoff: inout ExponentialBackoff, before deadline: ContinuousClock.Instant?
    ) throws(MessagePortError) -> Frame.Limits {
        while true {
            let (limits, ended) = state.withLock { ($0.limits, $0.ended) }
            if let ended { throw ended }
            if let limits { return limits }
            try checkReader(before: deadline)
            try waitForResources(&backoff, before: deadline)
        }
    }

    /// Throws an error if the calling thread's own loop reads the connection.
    ///
    /// In that case, the thread would wait for a packet that only its own loop can read. If the deadline has passed, the thread
    /// does not wait, so this function does not throw.
    private func checkReader(before deadline: ContinuousClock.Instant?) throws(MessagePortError) {
        if let deadline, deadline <= .now { return }
        if reading?.claim.loopHere != nil { throw MessagePortError(.wouldDeadlock) }
    }

    private func waitForRoom(before deadline: ContinuousClock.Instant?) throws(MessagePortError) {
        let wait = try local?.beginWait(in: "RemotePort.send", origin, before: deadline)
        defer { wait?.end() }
        let isThere: Bool
        do { isThere = try socket.wait(for: .write, before: deadline) } catch { throw .system(error) }
        if !isThere { throw MessagePortError(.timedOut) }
    }

    /// Pauses before the next attempt.
    ///
    /// The pause ends early at the deadline, or when the other end is closed. After the pause, it is possible that the kernel has
    /// resources again, or that the port has admitted this process.
    private func waitForResources(
        _ backoff: inout ExponentialBackoff, before deadline: ContinuousClock.Instant?
    ) throws(MessagePortError) {
        if let deadline, deadline <= .now { throw MessagePortError(.timedOut) }
        // The pause counts as a wait for the port: the kernel can be out of resources just because the port does not read.
        let wait = try local?.beginWait(in: "RemotePort.send", origin, before: deadline)
        defer { wait?.end() }
        let next = ContinuousClock.now + backoff.begin()
        let isGone: Bool
        do { isGone = try socket.wait(for: .end, before: min(next, deadline ?? next)) } catch {
            throw .system(error)
        }
        if isGone {
            peerHungUp()
            throw MessagePortError(.ended)
        }
    }

    /// Reads the replies that the port sent before its end of the connection was closed.
    private func peerHungUp() {
        let reads = state.withLock { $0.role.acquireForThread() }
        // If another thread has the role of the reader, that thread reads the replies and finds the end.
        if reads { readAll() }
    }

    /// Adds a request to the ``RequestTable``, and sends it.
    ///
    /// If the request gets an outcome before it is sent, this function returns, and the code that waits for the request finds the
    /// outcome. If this function throws, the caller is allowed to begin the request again.
    func begin(
        _ request: PendingRequest, _ body: RawSpan, id: UInt32, _ descriptors: [CInt],
        before deadline: ContinuousClock.Instant?
    ) throws(MessagePortError) {
        let ended = state.withLock { state in
            if state.ended == nil { state.requests.add(request) }
            return state.ended
        }
        if let ended { throw ended }
        do {
            let frame = Frame(kind: .request, id: id, number: request.number)
            try transmit(frame, body, descriptors, before: deadline)
        } catch {
            let wasWaiting = state.withLock { $0.requests.abandon(request) }
            ensureReader()
            // Otherwise the request was decided meanwhile: by the end of the connection, or by a port that replies to a request
            // that it has not received.
            if wasWaiting { throw error }
        }
    }

    /// Records that the calling thread begins to wait for a reply.
    ///
    /// Throws ``MessagePortError/Reason/wouldDeadlock`` if the wait would never end, for example because the calling thread serves
    /// the port.
    func beginWait(
        for request: PendingRequest, before deadline: ContinuousClock.Instant?
    ) throws(MessagePortError) -> ThreadWait? {
        try checkReader(before: deadline)
        return try local?.beginWait(in: "RemotePort.request", origin, before: deadline) { request.isDecided }
    }

    /// Gives up a request whose thread or task no longer waits.
    ///
    /// The request fails with `reason`, unless it already has an outcome.
    ///
    /// - Returns: The outcome.
    @discardableResult
    func abandon(_ request: PendingRequest, _ reason: MessagePortError) -> PendingRequest.Outcome {
        let waiter = state.withLock { state in
            state.requests.abandon(request) ? request.decide(.failure(reason)) : nil
        }
        waiter?.wake()
        // While the request was in the table, its thread may have been chosen as the next reader. The thread does not read now, so
        // another reader is chosen.
        if !request.isTask { ensureReader() }
        guard let outcome = request.outcome else {
            preconditionFailure("a request that is in no table is decided")
        }
        return outcome
    }

    /// Blocks the calling thread until a request has a reply or has failed.
    ///
    /// If no thread has the ``ReaderRole``, the calling thread takes it. Until its wait ends, it reads the replies to all requests.
    ///
    /// - Returns: The outcome, or nil if the deadline passed first.
    func wait(for request: PendingRequest, before deadline: ContinuousClock.Instant?) throws(SystemError)
        -> PendingRequest.Outcome?
    {
        let end = deadline.map { Moment($0) } ?? .never
        while true {
            switch state.withLock({ $0.turn(of: request) }) {
            case .leave: return request.outcome
            case .read: return try read(for: request, until: end)
            case .wait(let gate): if !gate.wait(until: end) { return request.outcome }
            }
        }
    }

    /// Reads the replies to all requests, until the given request is decided or the deadline passes.
    private func read(
        for request: PendingRequest, until end: Moment
    ) throws(SystemError) -> PendingRequest.Outcome? {
        defer { stopReading() }
        if end == .never {
            // The call that reads also blocks until there is a packet. If the connection ends, that wakes this thread and decides
            // the request.
            while !request.isDecided { _ = readOne(waits: true) }
            return request.outcome
        }
        while !request.isDecided, try socket.wait(for: .read, before: end.instant) {
            _ = readOne()
            // The deadline is checked here, too: if there is always a packet to read, the call above never waits.
            if end.instant <= .now { break }
        }
        return request.outcome
    }
}
