internal import DequeModule

/// The place of a port between processes in one loop, with its handlers.
///
/// The loop watches the port's set. When something in it is ready, the port is put in line with the other ports, and
/// served in the same step: so a run inside a handler goes on with the next message.
///
/// The loop's thread only.
final class MessagePortInput: SignalledInput {
    let core: MessagePortCore
    /// What the loop watches; in the same modes.
    let watch: DescriptorSource
    /// The port itself, which lives as long as it is in a loop.
    private let port: AnyObject
    /// What each message looks at: without the checks that a class's properties cost, which ``Confined`` argues.
    private let state = Confined(State())
    /// What is called when a sender has gone.
    var peerEnded: ((MessagePort.Peer) -> Void)?

    private struct State {
        var membership = Membership()
        var signal: Signal?
        var handlers = ModeHandlers<Handler>()
    }

    /// A type of its own: a function in a tuple or an optional is wrapped anew each time it is taken out.
    struct Handler: ModeHandler {
        let mode: RunLoop.Mode
        let deliver: (consuming MessagePort.Message) -> Void
    }

    /// How many messages of one sender are read before the kernel is asked who else has sent.
    private static let mostInARow = 16

    init(_ port: AnyObject, _ core: MessagePortCore, _ loop: LoopCore) {
        self.port = port
        self.core = core
        watch = DescriptorSource(core.set.descriptor, interest: .read, origin: core.origin) { _, _ in false }
        let signal = Signal(inbox: loop.inbox, input: self)
        self.signal = signal
        watch.relay = { [unowned loop] in loop.becameReady(signal) }
    }

    var membership: Membership {
        @inline(__always) _read { yield state.value.membership }
        @inline(__always) _modify { yield &state.value.membership }
    }

    /// Nil once the port has left the loop.
    private var signal: Signal? {
        @inline(__always) get { state.value.signal }
        @inline(__always) set { state.value.signal = newValue }
    }

    private var handlers: ModeHandlers<Handler> {
        @inline(__always) _read { yield state.value.handlers }
        @inline(__always) _modify { yield &state.value.handlers }
    }

    var keepsModeAlive: Bool { true }
    var step: SignalledStep { .ports }

    /// Has what was reported in another loop served in this one: the kernel may not say it twice.
    func goOn(in loop: LoopCore) {
        core.listenAgain()
        if let signal, unsafe !core.receiving.reports.isEmpty { loop.becameReady(signal) }
    }

    /// Keeps a handler for a mode, or for the common ones, unless there is one.
    func add(_ deliver: @escaping (consuming MessagePort.Message) -> Void, for mode: RunLoop.Mode) {
        handlers.add(Handler(mode: mode, deliver: deliver))
    }

    /// Takes out the handlers for a mode.
    ///
    /// - Returns: What has gone, for the caller to let go of when all is in order.
    func removeHandlers(for mode: RunLoop.Mode, in loop: LoopCore) -> [Handler] {
        handlers.remove(for: mode, in: loop.modes)
    }

    func handler(for mode: RunLoop.Mode) -> Handler? { handlers.handler(for: mode) }

    /// Whether the port is in this loop still, so that what its claim guards may be touched.
    ///
    /// Asked anew whenever user code has run, which may have had another loop take the port.
    var isInLoop: Bool { signal != nil }

    private func isServed(in mode: RunLoop.Mode) -> Bool { isInLoop && membership.contains(mode) }

    func serve(in loop: LoopCore, _ budget: inout Budget) -> Served {
        guard let signal, let mode = loop.currentMode else { return Served() }
        loop.serving.append(signal)
        defer { loop.serving.removeLast() }
        let receiving = unsafe core.receiving
        // All that was reported is served before the kernel is asked again, which then begins with those that were served
        // least recently: so each sender has its turn.
        var served = Served()
        if receiving.reports.isEmpty {
            // Whoever has just been answered is likely to have asked again: to look costs less than to have the kernel say who
            // has sent, which is asked if not.
            if core.connectionCount == 1, let asker = receiving.takeAsker() {
                receiving.reports.append(EpollSet.Report(token: asker, readiness: .reading))
                serveReports(in: mode, loop, &budget, &served)
            }
            if !served.calledHandler, receiving.reports.isEmpty { core.set.report(to: &receiving.reports) }
        }
        serveReports(in: mode, loop, &budget, &served)
        served.hasMore = isInLoop && !receiving.reports.isEmpty
        return served
    }

    /// Serves what was reported.
    private func serveReports(
        in mode: RunLoop.Mode, _ loop: LoopCore, _ budget: inout Budget, _ served: inout Served
    ) {
        if !isInLoop { return }
        let receiving = unsafe core.receiving
        var rest = receiving.reports.count
        var inARow = 1
        // A handler may remove the port, or change its modes, or run the loop, which serves on.
        while rest > 0, isServed(in: mode), budget.spend(), let report = receiving.reports.popFirst() {
            rest -= 1
            receiving.stream = nil
            if core.serve(report, for: self, in: loop) { served.calledHandler = true }
            // Nobody else has sent anything, and this sender waits for no reply, so it may have sent more: to look costs less
            // than to have the kernel report it, and only so a stream does not put the loop to sleep after each message.
            if isInLoop, let stream = receiving.stream, inARow < MessagePortInput.mostInARow,
                receiving.reports.isEmpty
            {
                inARow += 1
                rest += 1
                receiving.reports.append(EpollSet.Report(token: stream, readiness: .reading))
            }
        }
    }

    func didLeave(_ loop: LoopCore) {
        if signal == nil { return }
        letGo()
        if watch.membership.loop === loop { loop.removeFromLoop(watch) }
        let handler = peerEnded
        peerEnded = nil
        core.hasLeft()
        // The handler may be the last to hold user code's objects: they go when everything is in order.
        withExtendedLifetime(handler) {}
    }

    /// Cuts the references between this, its signal and its watch.
    func letGo() {
        signal?.input = nil
        signal = nil
        watch.relay = nil
    }
}
