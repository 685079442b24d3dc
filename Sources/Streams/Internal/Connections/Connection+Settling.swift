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
        var hasDrained = false
        var now = start
        if !state.machine.isConnected && !state.socket.hasBegunOpening { beginOpening() }
        send(now)
        // An end on another thread takes effect before the next call of a handler.
        while isAdmitted || state.machine.hasEnded, let step = state.nextStep() {
            switch step {
            case .endOutput:
                state.outputEnd?.leaveAll()
                state.outputEnd = nil
                state.socket.endOutput()
                // A filter may now hold a notice for the peer that the stream has ended, such as close_notify of TLS. This call
                // sends that notice.
                send(now)
            case .close: closeSocket()
            case .call(let notice):
                tell(notice)
                handled = true
                if notice == .drained { hasDrained = true }
                now = .now()
                send(now, mayDrain: !hasDrained)
            }
        }
        if state.isLingering { state.deadlines.lingers(at: now) }
        updateInterest()
        updateTimer()
        if state.due.contains(.service) && !state.machine.isCalling {
            state.due.remove(.service)
            places.askToBeServed()
        }
        return handled
    }

    /// Asks to be served if the filter's opening exchange has not begun, because each of its steps spends from the pass's budget.
    private func beginOpening() {
        if !state.machine.hasEnded, connecting == nil, state.socket.filter != nil {
            places.askToBeServed()
        }
    }

    /// Continues the filter's opening exchange with the peer, if the connection has a socket.
    ///
    /// A step of the exchange takes long, so the budget looks at the clock before the next step of any input.
    func openFilter(_ now: Moment, _ budget: inout Budget) {
        guard !state.machine.hasEnded, connecting == nil, let filter = state.socket.filter else { return }
        state.socket.hasBegunOpening = true
        budget.lookNext()
        switch filter.open() {
        case .opened:
            state.machine.didConnect()
            state.deadlines.didConnect(at: now)
        case .waits(let isBlocked): state.output.isBlocked = isBlocked
        case .failed(let reason): state.machine.end(reason)
        }
    }

    private func tell(_ notice: ConnectionMachine.Notice) {
        wakeTasks()
        switch notice {
        case .connected:
            if case .driver(let driver) = handlers.receiver { return driver.connectionIsMade() }
            if let handler = handlers.connected { call { handler(self) } }
        case .inputEnded: if let handler = handlers.inputEnded { call { handler(self) } }
        case .drained: if let handler = handlers.drained { call { handler(self) } }
        case .ended(let reason):
            let all = exchange(&handlers, with: Handlers())
            if case .driver(let driver) = all.receiver { driver.connectionHasEnded(reason) }
            if let handler = all.ended { streams?.callHandler(origin) { handler(self, reason) } }
            withExtendedLifetime(all) {}
        }
    }

    /// Sends unsent bytes until the kernel accepts no more.
    ///
    /// - Parameters:
    ///   - now: The present moment.
    ///   - mayDrain: False if the handler of ``onDrained(_:)`` was called since the connection was last served. A handler that writes
    ///     each time, for a peer that reads fast, would otherwise be called without an end.
    private func send(_ now: Moment, mayDrain: Bool = true) {
        guard state.machine.isConnected, !state.machine.hasEnded else { return }
        let before = state.sent
        defer { if state.sent != before { handlers.sent?(self) } }
        while state.hasUnsent && !state.output.isBlocked {
            switch state.send() {
            case .bytes(let count):
                state.sent += count
                state.deadlines.didSend(at: now, hasUnsent: state.hasUnsent)
            case .blocked:
                state.output.isBlocked = true
                state.deadlines.didBlock(at: now)
            case .failed(let reason): return state.machine.end(reason)
            }
        }
        if state.output.isAboveMark && state.output.count <= state.options.highWaterMark / 2 {
            if !mayDrain { return places.askToBeServed() }
            state.output.isAboveMark = false
            state.machine.didDrain()
            wakeTasks()
        }
    }

    /// Sends as many unsent bytes as the kernel accepts, without waiting for the end of the pass.
    func sendNow() { send(.now(), mayDrain: !state.machine.isCalling) }

    /// True if bytes that were to be sent are lost when the socket is closed now.
    private var losesOutput: Bool {
        if case .driver(let driver) = handlers.receiver, driver.hasUnsent { return true }
        return !state.output.isEmpty
    }

    func closeSocket() {
        let watched = watchedDescriptor
        connecting?.stop(self)
        timer?.invalidate()
        timer = nil
        places.leaveAll(watched)
        state.outputEnd?.leaveAll()
        state.outputEnd = nil
        connecting = nil
        state.socket.close(isComplete: state.machine.hasEndedInOrder && !losesOutput)
        state.input.removeAll()
        state.output.removeAll()
        admission?.giveBack()
        admission = nil
    }

    /// The descriptor that the loop watches for the connection; -1 if there is none.
    var watchedDescriptor: CInt { connecting?.descriptor ?? state.socket.descriptor }

    func updateInterest() {
        if places.isEmpty || connecting != nil { return }
        var interest = EpollSet.Interest(rawValue: 0)
        if isDriven && state.machine.isConnected {
            interest = .driven
        } else if state.wantsInput(hasReceiver: hasReceiver) {
            interest.formUnion(.reading)
            // The kernel does not report bytes that a filter holds, so the connection asks to be served.
            if state.socket.holdsInput { places.askToBeServed() }
        } else if !state.machine.isConnected {
            // The connection waits for the peer's part of the opening exchange.
            interest.formUnion(.reading)
            if state.socket.holdsInput { places.askToBeServed() }
        }
        if let output = state.outputEnd {
            output.watch(isBlocked: state.output.isBlocked)
        } else if state.output.isBlocked {
            interest.formUnion(.writing)
        }
        // The kernel reports the end of the stream and errors in any case. If the connection waits neither to read nor to write, it
        // asks the kernel to report these only once, and not in every pass.
        places.watch(for: interest.isEmpty ? .hangUpOnce : interest, state.socket.descriptor)
    }
}
