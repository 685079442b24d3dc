// What a sender sends; by any thread.

extension RemoteConnection {
    /// Sends a packet, and waits for room if there is none.
    func send(
        _ frame: Frame, _ body: RawSpan, _ descriptors: [CInt], before deadline: ContinuousClock.Instant?
    ) throws(MessagePortError) {
        try limits.check(body, descriptors)
        var pause = GrowingPause.sending
        while true {
            if let ended = state.withLock({ $0.ended }) { throw ended }
            switch socket.send(frame, body: body, descriptors: descriptors) {
            case .sent: return
            case .wouldBlock: try waitForRoom(before: deadline)
            case .lacksMeans: try waitForMeans(&pause, before: deadline)
            case .closed:
                hasHungUp()
                throw .ended
            case .tooLarge(let limit): throw .tooLarge(limit: limit - Frame.headLength)
            case .failed(let error): throw .system(error)
            }
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
        _ pause: inout GrowingPause, before deadline: ContinuousClock.Instant?
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

    /// Notes a request, and sends it.
    ///
    /// - Returns: Its number.
    func begin(
        _ request: PendingRequest, _ body: RawSpan, id: UInt32, _ descriptors: [CInt],
        before deadline: ContinuousClock.Instant?
    ) throws(MessagePortError) -> UInt64 {
        let (number, ended) = state.withLock { state -> (UInt64, MessagePortError?) in
            if let ended = state.ended { return (0, ended) }
            let number = state.requests.nextNumber()
            state.requests.add(request, number: number)
            return (number, nil)
        }
        if let ended { throw ended }
        do {
            try send(Frame(kind: .request, id: id, number: number), body, descriptors, before: deadline)
        } catch {
            _ = state.withLock { $0.requests.giveUp(number) }
            seeThatSomebodyReads()
            throw error
        }
        return number
    }

    /// Begins a thread's wait for a reply, unless this thread is the one to give it.
    func beginWait(
        for request: PendingRequest, before deadline: ContinuousClock.Instant?
    ) throws(MessagePortError) -> ThreadWait? {
        try local?.beginWait(in: "RemotePort.request", origin, before: deadline) { request.isDecided }
    }

    /// Nobody waits for a request any more.
    ///
    /// - Returns: False if it was answered meanwhile.
    func giveUp(_ number: UInt64) -> Bool {
        let wasWaitedFor = state.withLock { $0.requests.giveUp(number) }
        // Again, and not only when its thread has stopped reading: then it was in the table still, and may have been taken for
        // one that could read for the others.
        seeThatSomebodyReads()
        return wasWaitedFor
    }

    /// Waits, on a thread, until a request is decided, and reads meanwhile if nobody else does.
    ///
    /// - Returns: False if the deadline passed first.
    func wait(for request: PendingRequest, before deadline: ContinuousClock.Instant?) throws(MessagePortError)
        -> Bool
    {
        defer { seeThatSomebodyReads() }
        let end = deadline.map { Moment($0) } ?? .never
        while true {
            if request.isDecided { return true }
            if !state.withLock({ $0.role.takeForThread() }) {
                guard let gate = request.gateToWaitAt() else { return true }
                // Again, now that there is a gate: who has read meanwhile saw nobody at one, and has told nobody.
                if !state.withLock({ $0.role.takeForThread() }) {
                    if !gate.wait(until: end) { return false }
                    continue
                }
            }
            defer { state.withLock { $0.role.giveUp() } }
            while !request.isDecided {
                do {
                    if try !socket.wait(for: .read, before: deadline) { return request.isDecided }
                } catch {
                    throw .system(error)
                }
                _ = readOne()
                // Looked at here as well: where there is always something to be read, nobody waits for it.
                if let deadline, deadline <= .now { return request.isDecided }
            }
            return true
        }
    }
}
