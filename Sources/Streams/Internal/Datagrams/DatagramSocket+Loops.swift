internal import RunLoops

// This file adds a socket to the modes of its loop, schedules `settle()` for the end of a pass, and ends the socket.

extension DatagramSocket {
    func join(_ loop: LoopDatagrams, _ mode: RunLoop.Mode) throws(SystemError) {
        guard isOpen, let descriptor else { return }
        if let known = self.loop, known !== loop {
            misuse(
                "RunLoop.add(socket): the \(self) belongs to another loop; a socket stays on its first one")
        }
        guard end.join(loop.loop) else { return }
        try places.join(loop.streams.group(for: mode, origin), self, descriptor)
        self.loop = loop
        watch()
        settleLater()
    }

    func isIn(_ loop: RunLoop) -> Bool { self.loop?.loop === loop }

    func leave(_ mode: RunLoop.Mode) {
        guard let descriptor, let group = loop?.streams.knownGroup(for: mode) else { return }
        // The group can hold the last reference to the socket, and releases it here.
        withExtendedLifetime(self) { places.leave(group, descriptor) }
    }

    /// Schedules a call of ``settle()`` for the end of the loop's pass.
    func settleLater() {
        guard !isUnsettled, let loop, !loop.hasEnded else { return }
        isUnsettled = true
        loop.settleLater(self)
    }

    /// Sends what waits, or reports the end; called at the end of a pass, in any mode.
    func settle() {
        isUnsettled = false
        switch stage {
        case .open:
            flush()
            if !isCalling { watch() }
        // The report follows when the handler that is being called has returned.
        case .ended: if !isCalling { reportEnd() }
        case .reported: break
        }
    }

    /// Ends the socket; the loop reports the end later.
    ///
    /// If the socket was never added to a loop, the end is not reported.
    func end(_ reason: EndReason) {
        guard case .open = stage else { return }
        stage = .ended(reason)
        // The loop can hold the last reference to the socket, and releases it when the socket leaves its modes.
        withExtendedLifetime(self) {
            if let descriptor { places.leaveAll(descriptor) }
            socket = nil
            output = DatagramQueue()
            input.inbox = nil
            if loop != nil { return settleLater() }
            releaseHandlers()
        }
    }

    private func reportEnd() {
        guard case .ended(let reason) = stage else { return }
        stage = .reported(reason)
        let all = exchange(&handlers, with: Handlers())
        if case .task(let reader) = all.receiver { reader.wake() }
        if let handler = all.ended { loop?.streams.callHandler(origin) { handler(self, reason) } }
        withExtendedLifetime(all) {}
    }

    private func releaseHandlers() {
        let released = exchange(&handlers, with: Handlers())
        if case .task(let reader) = released.receiver { reader.wake() }
        withExtendedLifetime(released) {}
    }

    /// True if a handler may be called now.
    ///
    /// What other threads have handed over takes effect first.
    var isAdmitted: Bool { end.isUntouched || loop?.loop.admits(touched: end) ?? true }
}

extension DatagramSocket: EndedAnywhere {
    package func giveBack(inForkedChild isChild: Bool) {
        if isChild {
            // The socket, its file and the groups are shared with the parent, so nothing but memory and the descriptor is given
            // back.
            switch socket {
            case .some(let socket): socket.file?.keep()
            case nil: break
            }
            socket = nil
            return releaseHandlers()
        }
        withExtendedLifetime(self) {
            end(.closed)
            // No pass follows that would report the end.
            if let loop, loop.hasEnded, loop.loop.isCurrent { reportEnd() }
        }
    }
}

extension DatagramSocket {
    func loopEnds() {
        places.forget()
        // If a handler has ended the thread, that handler never returns.
        call = .none
        end(.loopEnded)
        reportEnd()
    }

    var part: InspectedPart {
        InspectedPart(
            "datagram socket", madeAt: origin,
            [
                .init("datagram sockets", 1), .init("received", statistics.received),
                .init("unsent", output.count), .init("paused", input.isPaused ? 1 : 0),
            ])
    }
}
