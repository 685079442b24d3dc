internal import CRunLoops
internal import Glibc
internal import RunLoops

// The socket's answers to the loop's reports of readiness: it receives, sends and calls the handlers.

extension DatagramSocket: StreamMember {
    /// A turn of a socket, which is one call of `serve`.
    private struct Turn: ~Copyable {
        /// The version of the places at the beginning; a handler that changes them ends the turn.
        let version: Int
        /// True once the step is used that the group has spent for the turn.
        private var hasBegun = false
        var hasCalled = false

        init(_ version: Int) { self.version = version }

        /// Counts a step, if the budget allows it.
        mutating func takesStep(_ budget: inout Budget) -> Bool {
            if hasBegun { return budget.spend() }
            hasBegun = true
            return true
        }
    }

    /// The maximum number of calls in a row that fail before the socket ends.
    private static var mostFailures: Int { 64 }

    func serve(_ readiness: EpollSet.Interest, in streams: LoopStreams, _ budget: inout Budget) -> Bool {
        if isCalling {
            // One of the socket's handlers has run the loop, and that run has made this call. The readiness is reported again when
            // the handler has returned.
            call = .underWayAndReported
            if let descriptor { places.watch(for: .edge, descriptor) }
            return false
        }
        var turn = Turn(places.version)
        guard goesOn(turn) else { return false }
        let isReadable = !readiness.isDisjoint(with: .received)
        let isInVain = isReadable && !wantsInput
        if !readiness.isDisjoint(with: .writing) { output.isBlocked = false }
        if !readiness.isDisjoint(with: .error) { input.expectsErrors() }
        if input.expectedError != nil { takeErrors(&turn, &budget) }
        let isDrained = deliver(mayReceive: isReadable, &turn, &budget)
        if !readiness.isDisjoint(with: .shutDown) { endIfShutDown(isDrained) }
        flush()
        tell(&turn, &budget)
        watch(reportedInVain: isInVain)
        // Connections that are served after this one use the time. A datagram does not, so the clock is read once for all.
        if turn.hasCalled { streams.updateTime() }
        return turn.hasCalled
    }

    /// True if the next handler of the turn may be called.
    private func goesOn(_ turn: borrowing Turn) -> Bool {
        guard isAdmitted, case .open = stage else { return false }
        return places.version == turn.version
    }

    var isCalling: Bool {
        switch call {
        case .none: false
        case .underWay, .underWayAndReported: true
        }
    }

    /// Calls a handler.
    private func callHandler(_ turn: inout Turn, _ handler: () -> Void) {
        guard let streams = loop?.streams else { return }
        callHandler(&turn, in: streams, handler)
    }

    private func callHandler(_ turn: inout Turn, in streams: LoopStreams, _ handler: () -> Void) {
        turn.hasCalled = true
        call = .underWay
        streams.callInTurn(origin, handler)
        let wasReported = if case .underWayAndReported = call { true } else { false }
        call = .none
        if case .ended = stage { settleLater() }
        if wasReported { watch() }
    }

    /// Updates what the kernel reports, and asks to be served if there is something to do that the kernel does not report.
    ///
    /// - Parameter isInVain: True if the kernel has reported datagrams that nobody takes now. Until then, the report stays on,
    ///   because a task that has taken a datagram usually awaits the next one.
    func watch(reportedInVain isInVain: Bool = false) {
        guard isOpen, let descriptor else { return }
        if wantsInput { input.isWatched = true } else if isInVain { input.isWatched = false }
        var interest = EpollSet.Interest(rawValue: 0)
        if input.isWatched { interest.formUnion(.reading) }
        if output.isBlocked { interest.formUnion(.writing) }
        // The kernel reports errors in any case. If the socket waits for nothing else, each error is reported once.
        places.watch(for: interest.isEmpty ? .edge : interest, descriptor)
        let hasInput = wantsInput && input.holdsDatagrams
        if hasInput || input.expectedError != nil || output.owesCall { places.askToBeServed() }
    }

    // MARK: - Receiving

    /// True if the receiver takes datagrams now.
    private var wantsInput: Bool {
        if input.isPaused { return false }
        switch handlers.receiver {
        case .none: return false
        case .handler: return true
        case .task(let reader): return reader.isWaiting
        }
    }

    /// Gives datagrams to the receiver, first those that were received before.
    ///
    /// If no other connection, listener or socket waits, the turn lasts until the budget is spent. Otherwise it ends with the
    /// datagrams that one call has received.
    ///
    /// - Returns: True if the kernel has no more datagrams.
    private func deliver(mayReceive: Bool, _ turn: inout Turn, _ budget: inout Budget) -> Bool {
        var mayReceive = mayReceive
        var isDrained = false
        while wantsInput && goesOn(turn) {
            guard let inbox = input.inbox, !inbox.isEmpty else {
                guard mayReceive, !isDrained, !budget.isSpent else { break }
                isDrained = receive(&turn, &budget)
                mayReceive = !places.list.contains { $0.group.othersWait }
                continue
            }
            switch handlers.receiver {
            case .none: return isDrained
            case .task(let reader): reader.wake()
            case .handler(let handler):
                guard handOver(inbox, to: handler, &turn, &budget) else { return isDrained }
            }
        }
        giveBackInbox()
        return isDrained
    }

    /// Gives the datagrams of an inbox to a handler, until the handler has changed what the socket does.
    ///
    /// The inbox, the handler and the registry are held once for all datagrams, because each reference costs as much as the rest of
    /// a datagram.
    ///
    /// - Returns: False if the budget is spent.
    private func handOver(
        _ inbox: DatagramInbox, to handler: (DatagramSocket, RawSpan, SocketAddress) -> Void,
        _ turn: inout Turn, _ budget: inout Budget
    ) -> Bool {
        guard let streams = loop?.streams else { return false }
        let version = input.receiverVersion
        repeat {
            if !turn.takesStep(&budget) { return false }
            let datagram = inbox.takeNext()
            note(datagram)
            let sender = datagram.sender
            input.isCut = datagram.isCut
            callHandler(&turn, in: streams) { datagram.withBytes { handler(self, $0, sender) } }
            input.isCut = false
        } while !inbox.isEmpty && input.goesOn(version) && goesOn(turn)
        return true
    }

    /// Counts a datagram that the receiver gets.
    func note(_ datagram: ReceivedDatagram) {
        statistics.received += 1
        if datagram.isCut { statistics.truncated += 1 }
    }

    /// Receives datagrams into the inbox.
    ///
    /// - Returns: True if no more datagrams wait in the kernel.
    private func receive(_ turn: inout Turn, _ budget: inout Budget) -> Bool {
        guard let loop, let descriptor else { return true }
        let inbox = input.inbox ?? loop.takeInbox(byteLimit: options.datagramByteLimit)
        input.inbox = inbox
        let code = inbox.receive(from: descriptor, upTo: options.datagramByteLimit)
        switch code {
        case 0:
            input.failuresInARow = 0
            return !inbox.wasFilled
        case EAGAIN: return true
        case _ where DatagramError.isOfNetwork(code) && input.failuresInARow < DatagramSocket.mostFailures:
            input.failuresInARow += 1
            input.expectsErrors(code)
            takeErrors(&turn, &budget)
            return false
        default:
            end(.failed(SystemError(call: "recvmmsg", code: code)))
            return true
        }
    }

    /// Gives an inbox of which every datagram was taken back to the loop.
    ///
    /// While a handler is called, the inbox holds the bytes that the handler was given. A task can then take the last datagram.
    func giveBackInbox() {
        guard !isCalling, let inbox = input.inbox, inbox.isEmpty else { return }
        input.inbox = nil
        loop?.giveBack(inbox)
    }

    /// Ends a socket that was shut down through another descriptor, because it would be readable for ever.
    private func endIfShutDown(_ isDrained: Bool) {
        if input.holdsDatagrams || !isDrained && wantsInput { return }
        end(.failed(SystemError(call: "recvmmsg", code: ESHUTDOWN)))
    }

    // MARK: - Errors

    /// Takes the errors of sent datagrams from the kernel, and tells the handler.
    ///
    /// While there are any, the kernel reports the socket in each pass.
    private func takeErrors(_ turn: inout Turn, _ budget: inout Budget) {
        var hasFound = false
        while let expected = input.expectedError, let descriptor, goesOn(turn), turn.takesStep(&budget) {
            if let (code, receiver) = DatagramError.take(from: descriptor) {
                hasFound = true
                input.expectsErrors()
                tell(SystemError(call: "sendmmsg", code: code), receiver, &turn)
                continue
            }
            input.expectedError = nil
            // The kernel keeps the last error beside the queue, too. Without an entry in the queue, nothing says which datagram the
            // error is about.
            let last = runloops_take_error(descriptor)
            let code = expected != 0 ? expected : last
            if !hasFound && code != 0 {
                tell(SystemError(call: "sendmmsg", code: code), peerAddress, &turn)
            }
        }
    }

    private func tell(_ error: SystemError, _ receiver: SocketAddress?, _ turn: inout Turn) {
        statistics.undelivered += 1
        if let handler = handlers.undelivered { callHandler(&turn) { handler(self, error, receiver) } }
    }

    // MARK: - Sending

    /// Sends datagrams until the kernel accepts no more.
    package func flush() {
        guard isOpen, let descriptor else { return }
        // A Unix socket without a peer is always writable. So it would wait in vain for a receiver that does not read.
        let mayWait = localAddress.isIP || peerAddress != nil
        while !output.isEmpty && !output.isBlocked {
            let (sent, code) = output.send(descriptor)
            statistics.sent += sent
            if sent > 0 {
                handlers.departed?(.accepted(sent))
                continue
            }
            if code == EAGAIN && mayWait {
                output.isBlocked = true
            } else if DatagramError.isOfNetwork(code) && !output.hasOfferedAgain {
                // The error can be that of an earlier datagram. It is then in the queue of errors, and the kernel has forgotten it.
                output.hasOfferedAgain = true
                input.expectsErrors()
            } else {
                statistics.undelivered += 1
                let receiver = output.discardFirst() ?? peerAddress
                let error = SystemError(call: "sendmmsg", code: code)
                if let departed = handlers.departed {
                    departed(.refused(error))
                } else if handlers.undelivered != nil {
                    output.note(error, receiver)
                }
            }
        }
        if output.room == .awaited && output.isHalfFree(options) {
            output.room = handlers.room == nil ? .there : .untold
        }
    }

    /// Calls the handlers of refused datagrams and of room.
    private func tell(_ turn: inout Turn, _ budget: inout Budget) {
        while let handler = handlers.undelivered, !output.undelivered.isEmpty, goesOn(turn),
            turn.takesStep(&budget)
        {
            let (error, receiver) = output.undelivered.removeFirst()
            callHandler(&turn) { handler(self, error, receiver) }
        }
        guard output.room == .untold, let handler = handlers.room, goesOn(turn), turn.takesStep(&budget)
        else {
            return
        }
        output.room = .there
        callHandler(&turn) { handler(self) }
        flush()
    }
}

extension EpollSet.Interest {
    /// The socket was shut down for receiving, through another descriptor.
    fileprivate static var shutDown: EpollSet.Interest { EpollSet.Interest.hangUp.union(.closed) }
}
