/// The manual sources and ports of one loop, which other threads make ready.
///
/// This object owns the queues in which ready inputs wait to be served, and the stack of ports whose handlers are being called.
///
/// > Thread safety: the loop's own thread only.
final class ReadyInputs {
    let members: LoopMembers

    private let manualSources = ReadyQueue()
    private let ports = ReadyQueue()

    /// The ports whose handlers are on the stack, outermost first.
    ///
    /// The stack is stored without exclusivity checks because each served port changes it; see ``ExclusivityUnchecked``.
    #if !CHECKS_EXCLUSIVITY
        @safe @exclusivity(unchecked)
    #endif
    private var serving = Serving()

    /// The innermost port is stored apart, so that a port whose handlers run no loop neither grows a list nor is retained once more:
    /// ``serve(_:)`` holds the signal.
    ///
    /// `@safe`: the call of ``serve(_:)`` that has set a signal holds it until the signal is replaced.
    @safe
    private struct Serving: ~Copyable {
        var innermost: Unmanaged<ReadyNode>?
        var outer: [ReadyNode] = []
    }

    init(_ members: LoopMembers) { self.members = members }

    var handle: LoopHandle { members.handle }
    var handlers: HandlerCaller { members.handlers }

    // MARK: - The pass's side

    /// Queues a signalled input to be served.
    func becameReady(_ signal: ReadyNode) {
        // The input can have left the loop since the signal was sent.
        if signal.input == nil { return }
        switch signal.step {
        case .manualSources: manualSources.append(signal)
        case .ports: ports.append(signal)
        case nil: preconditionFailure("a loop gets the nodes of its own inputs")
        }
    }

    /// Queues the ports whose handlers are on the stack, so that a run inside a handler delivers the ports' next messages.
    func runBegins() {
        guard let innermost = unsafe serving.innermost else { return }
        for signal in serving.outer { ports.append(signal) }
        unsafe ports.append(innermost.takeUnretainedValue())
    }

    /// True if an input in the current mode waits to be served.
    var holdsInput: Bool {
        @inline(__always) get { !(manualSources.isEmpty && ports.isEmpty) && holdsInputInMode }
    }

    private var holdsInputInMode: Bool {
        @inline(never) get {
            guard let mode = members.currentMode else { return false }
            return manualSources.holdsInput(in: mode) || ports.holdsInput(in: mode)
        }
    }

    /// Serves the manual sources that are signalled when this step of the pass begins.
    ///
    /// - Returns: True if a handler was called.
    @inline(__always)
    func serveManualSources() -> Bool { !manualSources.isEmpty && serve(manualSources) }

    /// Serves the ports that have messages when this step of the pass begins.
    ///
    /// - Returns: True if a handler was called.
    @inline(__always)
    func servePorts() -> Bool { !ports.isEmpty && serve(ports) }

    /// Serves each input in a queue once, as far as the budget of this step of the pass allows.
    ///
    /// An input is taken out of the queue only if the budget allows it one message, and each input that was served costs the budget
    /// at least one message, even if the input itself counts nothing. So an input that has more to serve always rejoins the queue
    /// at the end: it has had its turn. Inputs beyond the budget stay at the front of the queue.
    private func serve(_ queue: ReadyQueue) -> Bool {
        var budget = Budget()
        var handled = false
        var rest = queue.count
        guard rest > 0, let mode = members.currentMode else { return false }
        while rest > 0, budget.allowsOneMore(), let (signal, input) = queue.next(in: mode) {
            rest -= 1
            let before = budget.spent
            let served = input.serve(in: self, signal, &budget)
            budget.spendAtLeastOne(since: before)
            if served.calledHandler { handled = true }
            if served.hasMore { becameReady(signal) }
        }
        return handled
    }

    /// Queues again the inputs that were set aside because they were not in the current mode.
    func modesDidChange() {
        manualSources.modeDidChange()
        ports.modeDidChange()
    }

    /// Clears the queues, because the loop has ended.
    func end() {
        manualSources.removeAll()
        ports.removeAll()
    }

    // MARK: - The input's side

    /// Adds an input to a mode, or to the common modes.
    func add(_ input: any SignalledInput, to mode: Mode) {
        let isNew = input.membership.loop == nil
        // The input can have been set aside because it was not in this mode.
        if members.add(input, to: mode) && !isNew { modesDidChange() }
    }

    /// Records that a port's handlers are about to be called.
    @inline(__always)
    func beginServing(_ signal: ReadyNode) {
        if let outer = unsafe serving.innermost { unsafe serving.outer.append(outer.takeUnretainedValue()) }
        unsafe serving.innermost = .passUnretained(signal)
    }

    /// Records that the handlers of the innermost port have returned.
    @inline(__always)
    func endServing() {
        unsafe serving.innermost = serving.outer.isEmpty ? nil : .passUnretained(serving.outer.removeLast())
    }
}
