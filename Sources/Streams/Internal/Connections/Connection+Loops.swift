internal import RunLoops
internal import Synchronization

// This file adds a connection to the modes of its loop, schedules `settle(_:)` for the end of a pass, and sets the timer.

extension Connection {
    func join(_ streams: LoopStreams, _ mode: RunLoop.Mode) throws(SystemError) {
        if !isOpen { return }
        if let known = self.streams, known !== streams {
            misuse(
                "RunLoop.add(connection): the \(self) belongs to another loop; a connection stays on its first one"
            )
        }
        guard end.join(streams.loop) else { return }
        let group = try streams.group(for: mode, origin)
        let isNew = self.streams == nil
        if isNew { state.deadlines = ConnectionDeadlines(at: .now()) }
        if let connecting {
            try connecting.join(group, self)
        } else {
            try places.join(group, self, state.socket.descriptor)
            do throws(SystemError) { try state.outputEnd?.join(group) } catch {
                places.leave(group, state.socket.descriptor)
                throw error
            }
        }
        self.streams = streams
        if let timer { streams.loop.add(timer, forMode: mode) }
        placesDidChange()
        receiverDidChange()
    }

    func leave(_ streams: LoopStreams, _ mode: RunLoop.Mode) {
        guard let group = streams.knownGroup(for: mode) else { return }
        // The group can hold the last reference to the connection, and releases it here.
        withExtendedLifetime(self) {
            if let connecting {
                connecting.leave(group, self)
            } else {
                places.leave(group, state.socket.descriptor)
                state.outputEnd?.leave(group)
            }
            placesDidChange()
            guard let timer else { return }
            streams.loop.remove(timer, forMode: mode)
            // If `mode` is `.common`, the timer was also removed from common modes that the connection is in individually. So the
            // timer is added again in all modes that the connection is still in.
            for mode in modes { streams.loop.add(timer, forMode: mode) }
        }
    }

    /// Schedules the connection to be served again, because its receiver may now consume bytes that are already stored.
    func receiverDidChange() {
        if connecting == nil && !state.input.isEmpty { places.askToBeServed() }
        settleLater()
    }

    /// Schedules a call of ``settle(_:)`` for the end of the loop's pass.
    func settleLater() {
        guard let streams, !state.due.contains(.settling), !streams.hasEnded else { return }
        state.due.insert(.settling)
        streams.settleLater(self)
    }

    /// Moves the connection back to the list of the pass if it waits for other modes to be settled.
    private func placesDidChange() {
        guard let streams, state.due.contains(.settlingInOtherMode), !streams.hasEnded else { return }
        streams.doNotSettleInModes(self)
        streams.settleLater(self)
    }

    /// True if ``settle(_:)`` should be called for the connection at the end of a pass in a mode.
    ///
    /// The connection must be in that mode, or it must have ended and be in no mode.
    func isUnsettled(in mode: RunLoop.Mode, isCommon: Bool) -> Bool {
        if places.isEmpty { return !isOpen }
        return places.list.contains { $0.group.mode == mode || isCommon && $0.group.mode == .common }
    }

    /// Cancels the scheduled call of ``settle(_:)``, because the connection is in no mode.
    ///
    /// The call is scheduled again when the connection is added to a mode.
    func settleWhenAdded() { state.due.remove(.settling) }

    func settleAtPassEnd() {
        // If the connection has been served since the call was scheduled, it is settled already.
        if !state.due.contains(.settling) { return }
        state.due.remove(.settling)
        _ = settle(streams?.now ?? .now())
    }

    /// Ends the connection in a method that your code has called, such as `close()`.
    ///
    /// The method does not call the handler of the end: the loop calls that handler later. If the connection was never added to a
    /// loop, the handler is not called.
    func end(_ reason: EndReason) {
        if state.machine.hasEnded { return }
        state.machine.end(reason)
        if state.machine.nextStep(hasUnsent: false) == .close { closeSocket() }
        if streams != nil {
            placesDidChange()
            return settleLater()
        }
        wakeTasks()
        withExtendedLifetime(exchange(&handlers, with: Handlers())) {}
    }

    /// Sets the timer to the next deadline or the next attempt to connect, whichever is earlier.
    ///
    /// The timer is not changed if it is set to fire even earlier, at ``ConnectionDeadlines/timerMoment``.
    func updateTimer() {
        let deadline = state.nextDeadline()?.moment ?? .never
        let next = min(deadline, connecting?.nextStart ?? .never)
        guard next < state.deadlines.timerMoment, let streams else { return }
        state.deadlines.timerMoment = next
        if let timer {
            timer.fireDate = next.instant
            return
        }
        // Safe: the timer is invalidated before the connection is destroyed.
        let made = Timer(fireAt: next.instant, interval: .zero, repeats: false) { [unowned self] timer in
            // If the date were not changed, the timer would become invalid now, because it does not repeat.
            timer.fireDate = .distantFuture
            state.deadlines.timerMoment = .never
            self.streams?.updateTime()
            timerFired(at: .now())
        }
        timer = made
        for mode in modes { streams.loop.add(made, forMode: mode) }
    }

    /// Handles the firing of the timer.
    ///
    /// The timer fires when the next attempt to connect is due, or at a deadline. It can fire too early, because a deadline can
    /// move to a later moment after the timer was set.
    func timerFired(at now: Moment) {
        if let next = state.nextDeadline(), next.moment <= now, next.cause == .timeout(.idle),
            endsIdleTime(at: now)
        {
            return
        }
        // The kernel's reports about attempts to connect are also served after the timers, so some attempts may have ended already.
        connecting?.endReadyAttempts(self, now)
        endIfOverdue(at: now)
        connecting?.goOn(self, now)
        _ = settle(now)
    }

    /// Looks for what ends the idle time of a connection for which that time has passed.
    ///
    /// - Returns: True if the connection stays open for now.
    private func endsIdleTime(at now: Moment) -> Bool {
        // The connection receives nothing while a handler of its own runs the loop, whatever the peer sends.
        if state.machine.isCalling {
            state.deadlines.didReceive(at: now)
            updateTimer()
            return true
        }
        // Timers are served before descriptors in a pass, so bytes may have arrived that the connection has not received yet. The
        // connection receives these bytes first, because they end its idle time.
        guard state.wantsInput(hasReceiver: hasReceiver) || state.due.contains(.frames), !places.isEmpty,
            state.socket.hasInput
        else { return false }
        if isDriven {
            state.deadlines.didReceive(at: now)
            updateTimer()
        } else {
            state.due.insert(.idleCheck)
            places.askToBeServed()
        }
        return true
    }

    /// Ends the connection if a deadline has passed.
    func endIfOverdue(at now: Moment) {
        guard let next = state.nextDeadline(), next.moment <= now else { return }
        switch next.cause {
        case .timeout(let timeout): state.machine.end(.timedOut(timeout))
        case .linger: state.machine.didLinger()
        }
    }
}

extension Connection {
    /// The modes that the connection is in.
    var modes: [RunLoop.Mode] { places.list.map { $0.group.mode } }
}

extension Connection: EndedAnywhere {
    package func giveBack(inForkedChild isChild: Bool) {
        if isChild {
            // The socket and the groups are shared with the parent, so nothing but memory and the descriptor is given back.
            let released = exchange(&handlers, with: Handlers())
            state.socket.closeCopy()
            return withExtendedLifetime(released) {}
        }
        if resetsAtEnd.load(ordering: .relaxed) { state.socket.resetWhenClosed() }
        // The loop can hold the last reference to the connection, and releases it when the connection leaves its modes.
        withExtendedLifetime(self) {
            end(.closed)
            // No pass follows that would report the end.
            if let streams, streams.hasEnded, streams.loop.isCurrent { _ = settle(.now()) }
        }
    }

    /// True if a handler may be called now.
    ///
    /// What other threads have handed over takes effect first.
    var isAdmitted: Bool {
        @inline(__always) get { end.isUntouched || streams?.loop.admits(touched: end) ?? true }
    }
}
