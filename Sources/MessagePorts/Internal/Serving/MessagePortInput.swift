internal import DequeModule
internal import RunLoops

/// A ``MessagePort`` in one loop, with its handlers.
///
/// The loop watches the descriptor of the port's ``EpollSet``. When the set is ready, the loop adds this input to its queue of
/// ports, and serves the input together with the other ports; see ``ServedInput``. If a handler runs the loop, that run serves the
/// next message.
///
/// > Thread safety: the loop's own thread only.
final class MessagePortInput: InputServer {
    let core: MessagePortCore
    let input: ServedInput
    /// The port itself, which this reference keeps alive while the port is in a loop.
    let port: MessagePort
    /// The handlers for messages, stored without exclusivity checks because they are read for each message; see
    /// ``ExclusivityUnchecked``.
    private let handlers = ExclusivityUnchecked(ModeHandlers<Handler>())
    /// The handler to call when an admitted peer has ended.
    var peerEnded: ((MessagePort, MessagePort.Peer) -> Void)?
    /// The handler to call when a peer that had no room for a message has room again.
    var peerHasRoom: ((MessagePort, MessagePort.Peer) -> Void)?
    /// The handler to call when the program has its turn.
    var turn: TurnHandler?
    /// The handler to call once, when the port has lost its name.
    var nameLost: ((MessagePort) -> Void)?
    /// The watch that reports the loss of the name, or nil if ``nameLost`` is not set or the name cannot be lost.
    private var nameWatch: NameWatch?

    /// A handler for messages, and the mode in which it is called.
    ///
    /// This is a type of its own for the sake of speed. If a function is stored directly in a tuple or an optional, Swift wraps it
    /// in one more closure each time that it is read.
    struct Handler: ModeHandler {
        let mode: RunLoop.Mode
        let deliver: (consuming MessagePort.Message) -> Void
    }

    typealias TurnHandler = (inout Budget) -> Void

    /// The maximum number of messages that the loop reads from one sender before it polls the kernel for other senders.
    private static let mostInARow = 16

    init(_ port: MessagePort, _ core: MessagePortCore, _ loop: RunLoop) {
        self.port = port
        self.core = core
        input = ServedInput(core.set.descriptor, core.origin, in: loop)
    }

    /// Makes the port accept connections again, and serve the events that were reported while the port was in another loop.
    ///
    /// The kernel does not necessarily report these events again.
    func resume() {
        core.listenAgain()
        if unsafe !core.reads.reports.isEmpty || core.reads.turn.isAsked { input.becameReady() }
    }

    /// Stores a handler for a mode, or for the common modes, unless the mode has a handler already.
    func add(_ deliver: @escaping (consuming MessagePort.Message) -> Void, for mode: RunLoop.Mode) {
        handlers.value.add(Handler(mode: mode, deliver: deliver))
    }

    /// Removes the handlers for a mode.
    ///
    /// - Returns: The removed handlers. The caller makes its own state consistent before it releases them; see `ModeHandlers`.
    func removeHandlers(for mode: RunLoop.Mode) -> [Handler] {
        handlers.value.remove(for: mode, whereCommon: input.commonModes)
    }

    func handler(for mode: RunLoop.Mode) -> Handler? { handlers.value.handler(for: mode) }

    /// True while the port is in this loop.
    ///
    /// While this is false, this thread must not access the values that the port's claim guards. Check this again after each call
    /// of user code, because that code can have added the port to another loop.
    var isInLoop: Bool { input.isInLoop }

    func serve(in mode: RunLoop.Mode, _ budget: inout Budget) -> Served {
        let reads = unsafe core.reads
        // All reported events are served before the kernel is polled again. The kernel then begins with the senders that were
        // served least recently, so every sender is served in turn.
        var served = Served()
        if reads.reports.isEmpty {
            // The requester that was just answered is likely to have sent another request. Reading its connection costs less than
            // polling the kernel for all ready connections, which follows if there is no request.
            if core.connectionCount == 1, let requester = reads.takeLastRequester() {
                reads.reports.append(EpollSet.Report(token: requester, readiness: .reading))
                serveReports(in: mode, &budget, &served)
            }
            if !served.calledHandler, reads.reports.isEmpty {
                core.set.report(to: &reads.reports)
                reads.queueTurn()
            }
        }
        serveReports(in: mode, &budget, &served)
        served.hasMore = isInLoop && (!reads.reports.isEmpty || reads.turn.isAsked)
        return served
    }

    /// Serves the events in the port's ``ReadQueue``, within the budget.
    private func serveReports(in mode: RunLoop.Mode, _ budget: inout Budget, _ served: inout Served) {
        if !isInLoop { return }
        let reads = unsafe core.reads
        var rest = reads.reports.count
        var inARow = 1
        // A handler can remove the port, change its modes, or run the loop, which serves the port inside the handler.
        while rest > 0, input.isServed(in: mode), budget.spend(), let report = reads.reports.popFirst() {
            rest -= 1
            reads.lastSender = nil
            if core.serve(report, for: self, &budget) { served.calledHandler = true }
            // No other sender is ready, and this sender waits for no reply, so it may have sent more. Reading costs less than
            // polling the kernel. Without this, the loop would sleep after each message of a stream.
            if isInLoop, let sender = reads.lastSender, inARow < MessagePortInput.mostInARow,
                reads.reports.isEmpty
            {
                inARow += 1
                rest += 1
                reads.reports.append(EpollSet.Report(token: sender, readiness: .reading))
            }
        }
    }

    var parts: [InspectedPart] {
        let statistics = core.statistics
        return [
            InspectedPart(
                "message port", madeAt: core.origin,
                [
                    .init("connections", statistics.connections), .init("messages", statistics.messages),
                    .init("refused", statistics.refusedPeers + statistics.excessConnections),
                    .init("closed for silence", statistics.silentPeers),
                    .init("closed for unread replies", statistics.unreadPeers),
                    .init("malformed", statistics.malformedPackets),
                ])
        ]
    }

    // MARK: - The name

    /// Begins to watch for the loss of the name, unless the name is watched already or cannot be lost.
    func watchName(of listener: PortListener) throws(SystemError) {
        if nameWatch != nil { return }
        guard let watch = try listener.watchName() else { return }
        try core.set.add(watch.descriptor, .reading, token: MessagePortCore.nameToken)
        nameWatch = consume watch
    }

    /// Reads and discards the pending events of the watch, so that the kernel reports later changes.
    func drainNameWatch() { nameWatch?.drain() }

    func unwatchName() {
        if let number = nameWatch?.descriptor { core.set.remove(number) }
        nameWatch = nil
    }

    func didLeaveLoop() {
        let released = takeEventHandlers()
        unwatchName()
        core.hasLeft()
        // The handlers can hold the last references to the user's objects, so they are released when the change is complete.
        withExtendedLifetime(released) {}
    }

    private func takeEventHandlers() -> Any {
        defer { (peerEnded, peerHasRoom, turn, nameLost) = (nil, nil, nil, nil) }
        return (peerEnded, peerHasRoom, turn, nameLost)
    }

    /// Releases all handlers, in a forked child.
    func releaseHandlers() {
        let released = (takeEventHandlers(), handlers.value.removeAll())
        withExtendedLifetime(released) {}
    }
}
