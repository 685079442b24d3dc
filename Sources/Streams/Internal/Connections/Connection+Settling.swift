internal import RunLoops

// This file takes the steps that the `ConnectionMachine` returns: it acts on the socket, and calls the handlers.

extension Connection {
    /// Does everything that is due after an event of the connection.
    ///
    /// The method sends unsent bytes, and takes the steps that the ``ConnectionMachine`` returns, such as calling handlers. Then it
    /// updates the watched readiness and the timer.
    ///
    /// - Returns: True if a handler was called.
    func settle(_ start: Moment) -> Bool {
        var handled = false
        var now = start
        if !state.machine.isConnected { openFilter(now) }
        send(now)
        while let step = state.nextStep() {
            switch step {
            case .endOutput:
                state.socket.endOutput()
                // A filter may now hold a notice for the peer that the stream has ended, such as close_notify of TLS. This call
                // sends that notice.
                send(now)
            case .close: closeSocket()
            case .call(let notice):
                tell(notice)
                handled = true
                now = .now()
                send(now)
            }
        }
        if state.isLingering { state.deadlines.lingers(at: now) }
        updateInterest()
        updateTimer()
        if state.wasAsked && !state.machine.isCalling {
            state.wasAsked = false
            places.askToBeServed()
        }
        return handled
    }

    /// Continues the filter's opening exchange with the peer, if the connection has a socket.
    func openFilter(_ now: Moment) {
        guard state.machine.ended == nil, connecting == nil, let filter = state.socket.filter else { return }
        switch filter.open() {
        case .opened:
            state.machine.didConnect()
            state.deadlines.didConnect(at: now)
        case .waits(let isBlocked): state.isBlocked = isBlocked
        case .failed(let reason): state.machine.end(reason)
        }
    }

    private func tell(_ notice: ConnectionMachine.Notice) {
        wakeTasks()
        switch notice {
        case .connected: if let handler = handlers.connected { call { handler(self) } }
        case .inputEnded: if let handler = handlers.inputEnded { call { handler(self) } }
        case .drained: if let handler = handlers.drained { call { handler(self) } }
        case .ended(let reason):
            let all = handlers
            handlers = Handlers()
            if let handler = all.ended { streams?.callHandler(origin) { handler(self, reason) } }
            withExtendedLifetime(all) {}
        }
    }

    private func send(_ now: Moment) {
        guard state.machine.isConnected, state.machine.ended == nil else { return }
        while state.hasUnsent && !state.isBlocked {
            switch state.send() {
            case .bytes(let count):
                state.sent += count
                state.deadlines.didSend(at: now, hasUnsent: state.hasUnsent)
            case .blocked:
                state.isBlocked = true
                state.deadlines.isBlocked(at: now)
            case .failed(let reason): return state.machine.end(reason)
            }
        }
        if state.isAboveMark && state.output.count <= state.options.highWaterMark / 2 {
            state.isAboveMark = false
            state.machine.didDrain()
            wakeTasks()
        }
    }

    /// Sends as many unsent bytes as the kernel accepts, without waiting for the end of the pass.
    func sendNow() { send(.now()) }

    func closeSocket() {
        let watched = watchedDescriptor
        connecting?.stop(self)
        timer?.invalidate()
        timer = nil
        places.leaveAll(watched)
        connecting = nil
        state.socket.close(isComplete: state.machine.hasEndedInOrder && state.output.isEmpty)
        state.input.removeAll()
        state.output.removeAll()
        admission?.giveBack()
        admission = nil
    }

    /// The descriptor that the loop watches for the connection; -1 if there is none.
    var watchedDescriptor: CInt { connecting?.descriptor ?? state.socket.descriptor }

    private func updateInterest() {
        if places.isEmpty || connecting != nil { return }
        var interest = EpollSet.Interest(rawValue: 0)
        if state.wantsInput(hasReceiver: hasReceiver) {
            interest.formUnion(.reading)
            // The kernel does not report bytes that a filter holds, so the connection asks to be served.
            if state.socket.holdsInput { places.askToBeServed() }
        } else if !state.machine.isConnected {
            // The connection waits for the peer's part of the opening exchange.
            interest.formUnion(.reading)
        }
        if state.isBlocked { interest.formUnion(.writing) }
        // The kernel reports the end of the stream and errors in any case. If the connection waits neither to read nor to write, it
        // asks the kernel to report these only once, and not in every pass.
        places.watch(for: interest.isEmpty ? .hangUpOnce : interest, state.socket.descriptor)
    }
}
