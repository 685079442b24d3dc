internal import CRunLoops
internal import Glibc
internal import RunLoops

extension Listener: StreamMember {
    /// The maximum number of waiting connections that are refused in one go, and of errors in a row before the listener pauses.
    private static var mostRefusals: Int { 64 }

    func serve(_ readiness: EpollSet.Interest, in loop: LoopStreams, _ budget: inout Budget) -> Bool {
        // The handler may run the loop, and that run accepts further connections. So each connection is taken from the kernel just
        // before the handler is called for it. The kernel reports again what the budget does not allow now.
        var handled = false
        var steps = 0
        let version = places.version
        while isAdmitted, places.version == version, let descriptor, pauses.timer == nil, !isFull,
            !places.isEmpty, !noteIfFull()
        {
            if steps > 0 && !budget.spend() { break }
            steps += 1
            var address = [UInt8](repeating: 0, count: runloops_address_capacity)
            var length: UInt32 = 0
            // Safe: the C function only writes to local variables.
            let accepted = unsafe runloops_accept_stream(descriptor, &address, &length)
            let code = errno
            if accepted >= 0 {
                pauses.backoff.reset()
                pauses.failuresInARow = 0
                address.removeSubrange(Int(length)...)
                if admit(OwnedDescriptor(accepted), SocketAddress(kernel: address), loop) { handled = true }
                continue
            }
            switch AcceptFailure(code) {
            case .nothingWaits: return handled
            case .connection where pauses.failuresInARow < Listener.mostRefusals: pauses.failuresInARow += 1
            case .connection, .listener:
                pauses.failuresInARow = 0
                if pause(SystemError(call: "accept4", code: code), loop) { handled = true }
            case .descriptors:
                refuseWaiting(descriptor)
                if pause(SystemError(call: "accept4", code: code), loop) { handled = true }
            }
        }
        return handled
    }

    /// Accepts the connections that wait in the backlog, which the kernel would reset when the listener is invalidated.
    ///
    /// - Parameter limit: The maximum number of connections. A peer that connects again and again refills the backlog, and must not
    ///   keep the caller busy.
    package func acceptBacklog(atMost limit: Int) {
        guard let streams else { return }
        var address = [UInt8](repeating: 0, count: runloops_address_capacity)
        var length: UInt32 = 0
        for _ in 0..<limit {
            guard isAdmitted, let descriptor, pauses.timer == nil, !isFull, !noteIfFull() else { return }
            // Safe: the C function only writes to local variables.
            let accepted = unsafe runloops_accept_stream(descriptor, &address, &length)
            if accepted < 0 {
                if case .connection = AcceptFailure(errno) { continue }
                return
            }
            let peer = SocketAddress(kernel: Array(address.prefix(Int(length))))
            _ = admit(OwnedDescriptor(accepted), peer, streams)
        }
    }

    /// True if the handler may be called now.
    ///
    /// What other threads have handed over takes effect first.
    private var isAdmitted: Bool { end.isUntouched || streams?.loop.admits(touched: end) ?? true }

    func loopEnds() {
        places.forget()
        endHere()
    }

    /// Passes an accepted connection to the handler, or resets the connection if its peer has the maximum number of connections.
    ///
    /// - Returns: True if the handler was called.
    private func admit(
        _ socket: consuming OwnedDescriptor, _ peer: SocketAddress, _ loop: LoopStreams
    ) -> Bool {
        guard let admission = limits.admit(peer.peerKey, limit: options.connectionLimitPerPeer) else {
            statistics.refusedPeers += 1
            runloops_reset_when_closed(socket.descriptor)
            return false
        }
        guard let handler else { return false }
        if peer.isIP {
            if options.sendsWithoutDelay { runloops_send_without_delay(socket.descriptor) }
            if options.keepsAlive { runloops_keep_alive(socket.descriptor) }
        }
        statistics.accepted += 1
        var accepted: AcceptedSocket? = AcceptedSocket(socket, peer, admission)
        loop.callHandler(origin) {
            if let accepted = accepted.take() { handler(accepted) }
        }
        return true
    }

    /// Stops accepting if the limit of open connections is reached.
    ///
    /// - Returns: True if the limit is reached.
    private func noteIfFull() -> Bool {
        guard let limit = options.connectionLimit, let streams else { return false }
        let loop = streams.loop
        let id = ObjectIdentifier(self)
        // A connection can end on any thread, so the closure passes the work to the loop's thread.
        isFull = limits.notify(below: limit) {
            loop.doLast { LoopStreams.of(loop).listenerHasRoom(id) }
        }
        if !isFull { return false }
        statistics.timesFull += 1
        streams.awaitRoom(self)
        updateInterest()
        return true
    }

    /// Starts to accept again, because a connection has ended.
    func hasRoom() {
        isFull = false
        updateInterest()
    }

    /// Accepts and closes waiting connections one by one, so that their peers see the end of the stream.
    ///
    /// The listener calls this when the process is out of descriptors. The method first closes the descriptor that the listener
    /// holds in reserve, which frees one descriptor number. Each waiting connection is accepted with this number and closed at
    /// once, so that the number is free for the next connection.
    private func refuseWaiting(_ descriptor: CInt) {
        reserve = nil
        var address = [UInt8](repeating: 0, count: runloops_address_capacity)
        var length: UInt32 = 0
        for _ in 0..<Listener.mostRefusals {
            // Safe: the C function only writes to local variables.
            let refused = unsafe runloops_accept_stream(descriptor, &address, &length)
            if refused < 0 { break }
            close(refused)
            statistics.refusedForDescriptors += 1
        }
        restoreReserve()
    }

    private func restoreReserve() {
        switch reserve {
        case .some: return
        case nil: break
        }
        // If another thread takes the freed descriptor number first, the next pause begins without a reserve.
        do throws(SystemError) { reserve = try OwnedDescriptor.eventDescriptor() } catch { reserve = nil }
    }

    /// Stops accepting until a timer fires, and reports the error.
    ///
    /// - Returns: True if a handler was called.
    private func pause(_ error: SystemError, _ loop: LoopStreams) -> Bool {
        statistics.pauses += 1
        let timer = Timer(timeInterval: pauses.backoff.begin(), repeats: false) { [unowned self] _ in
            pauses.timer = nil
            restoreReserve()
            updateInterest()
        }
        pauses.timer = timer
        for place in places.list { loop.loop.add(timer, forMode: place.group.mode) }
        updateInterest()
        guard let pauseHandler else {
            RunLoopDiagnostics.report("\(self) pauses: \(error)")
            return false
        }
        loop.callHandler(origin) { pauseHandler(self, error) }
        return true
    }

    private func updateInterest() {
        guard let descriptor else { return }
        places.watch(for: pauses.timer == nil && !isFull ? .reading : .edge, descriptor)
    }

    // MARK: - Modes

    func join(
        _ streams: LoopStreams, _ mode: RunLoop.Mode, _ handler: @escaping (consuming AcceptedSocket) -> Void
    ) throws(SystemError) {
        guard let descriptor else { return }
        if let known = self.streams, known !== streams {
            misuse(
                "RunLoop.add(listener): the \(self) belongs to another loop; make a listener for each loop")
        }
        guard end.join(streams.loop) else { return }
        try places.join(streams.group(for: mode, origin), self, descriptor)
        self.streams = streams
        let replaced = exchange(&self.handler, with: handler)
        if let timer = pauses.timer { streams.loop.add(timer, forMode: mode) }
        updateInterest()
        // The replaced handler is released last, because destroying an object that it holds can call the listener.
        withExtendedLifetime(replaced) {}
    }

    func leave(_ streams: LoopStreams, _ mode: RunLoop.Mode) {
        guard let descriptor, let group = streams.knownGroup(for: mode) else { return }
        withExtendedLifetime(self) {
            places.leave(group, descriptor)
            guard let timer = pauses.timer else { return }
            streams.loop.remove(timer, forMode: mode)
            // If `mode` is `.common`, the timer was also removed from common modes that the listener is in individually. So the
            // timer is added again in all modes that the listener is still in.
            for place in places.list { streams.loop.add(timer, forMode: place.group.mode) }
        }
    }
}
