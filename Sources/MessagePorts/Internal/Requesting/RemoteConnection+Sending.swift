internal import RunLoops

// What a sender sends; by any thread.

extension RemoteConnection {
    /// Sends a message, and waits for room if there is none.
    func send(
        _ frame: Frame, _ body: RawSpan, _ descriptors: [CInt], before deadline: ContinuousClock.Instant?
    ) throws(MessagePortError) {
        if let ended = state.withLock({ $0.ended }) { throw ended }
        try transmit(frame, body, descriptors, before: deadline)
    }

    /// Sends a packet over a connection that was there a moment ago.
    private func transmit(
        _ frame: Frame, _ body: RawSpan, _ descriptors: [CInt], before deadline: ContinuousClock.Instant?
    ) throws(MessagePortError) {
        try limits.check(body, descriptors)
        var pause = ExponentialBackoff.sending
        while true {
            switch socket.sendMakingRoom(frame, body: body, descriptors: descriptors) {
            case .sent: return
            case .wouldBlock: try waitForRoom(before: deadline)
            case .lacksMeans: try waitForMeans(&pause, before: deadline)
            case .closed:
                hasHungUp()
                throw .ended
            case .tooLarge(let limit): throw .tooLarge(limit: limit - Frame.headLength)
            case .failed(let error): throw .system(error)
            }
            if let ended = state.withLock({ $0.ended }) { throw ended }
        }
    }

    private func waitForRoom(before deadline: ContinuousClock.Instant?) throws(MessagePortError) {
        let wait = try local?.beginWait(in: "RemotePort.send", origin, before: deadline)
        defer { wait?.end() }
        let isThere: Bool
        do { isThere = try socket.wait(for: .write, before: deadline) } catch { throw .system(error) }
        if !isThere { throw .timedOut }
    }

    /// Waits until it is worth trying again what the kernel has had no means for, or the other end is gone.
    private func waitForMeans(
        _ pause: inout ExponentialBackoff, before deadline: ContinuousClock.Instant?
    ) throws(MessagePortError) {
        if let deadline, deadline <= .now { throw .timedOut }
        // It may be the port's not reading that takes the means.
        let wait = try local?.beginWait(in: "RemotePort.send", origin, before: deadline)
        defer { wait?.end() }
        let next = ContinuousClock.now + pause.begin()
        let isGone: Bool
        do { isGone = try socket.wait(for: .end, before: min(next, deadline ?? next)) } catch {
            throw .system(error)
        }
        if isGone {
            hasHungUp()
            throw .ended
        }
    }

    /// The other end is gone: replies that it has sent before may still be there.
    private func hasHungUp() {
        let reads = state.withLock { $0.role.takeForThread() }
        // If somebody else reads, it comes to the end by itself.
        if reads { readAll() }
    }

    /// Notes a request, and sends it, unless it is decided before that: its waiter finds it so.
    ///
    /// If it throws, the request may be begun anew.
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
            let wasWaiting = state.withLock { $0.requests.giveUp(request) }
            seeThatSomebodyReads()
            // Else it was decided meanwhile: by the end, or by a port that answers what it was not asked.
            if wasWaiting { throw error }
        }
    }

    /// Begins a thread's wait for a reply, unless this thread is the one to give it.
    func beginWait(
        for request: PendingRequest, before deadline: ContinuousClock.Instant?
    ) throws(MessagePortError) -> ThreadWait? {
        try local?.beginWait(in: "RemotePort.request", origin, before: deadline) { request.isDecided }
    }

    /// Nobody waits for a request any more, for this reason.
    ///
    /// - Returns: What it comes to: it may have been decided meanwhile.
    @discardableResult
    func giveUp(_ request: PendingRequest, _ reason: MessagePortError) -> PendingRequest.Outcome {
        let waiter = state.withLock { state in
            state.requests.giveUp(request) ? request.decide(.failure(reason)) : nil
        }
        waiter?.wake()
        // Until now it was in the table, and its thread may have been taken for one that could read for the others.
        if !request.isTask { seeThatSomebodyReads() }
        guard let outcome = request.outcome else { preconditionFailure("what is in no table is decided") }
        return outcome
    }

    /// Waits, on a thread, until a request is decided, and reads meanwhile if nobody else does.
    ///
    /// - Returns: What was decided; nil if the deadline passed first.
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

    /// Reads until a request is decided, for all who wait.
    private func read(
        for request: PendingRequest, until end: Moment
    ) throws(SystemError) -> PendingRequest.Outcome? {
        defer { stopReading() }
        if end == .never {
            // The call that reads is the one that waits: the end of the connection wakes it, and decides the request.
            while !request.isDecided { _ = readOne(waits: true) }
            return request.outcome
        }
        while !request.isDecided, try socket.wait(for: .read, before: end.instant) {
            _ = readOne()
            // Looked at here as well: where there is always something to be read, nobody waits for it.
            if end.instant <= .now { break }
        }
        return request.outcome
    }
}
