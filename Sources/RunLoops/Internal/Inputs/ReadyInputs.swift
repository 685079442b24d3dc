/// The inputs of one loop that other threads make ready: manual sources, and ports.
///
/// It owns the lines in which those that are ready wait to be served, and the stack of ports whose handlers are being called.
///
/// > Thread safety: the loop's own thread only.
final class ReadyInputs {
    let members: LoopMembers

    private let manualSources = ReadyQueue()
    private let ports = ReadyQueue()

    /// The ports whose handlers are on the stack, outermost first.
    ///
    /// Changed for each port that is served: without the checks that a class's properties cost, which ``ExclusivityUnchecked``
    /// argues.
    private let serving = ExclusivityUnchecked<[ReadyNode]>([])

    init(_ members: LoopMembers) { self.members = members }

    var handle: LoopHandle { members.handle }
    var handlers: HandlerCaller { members.handlers }

    // MARK: - The pass's side

    /// Notes that a signalled input is to be served.
    func becameReady(_ signal: ReadyNode) {
        // It may have left the loop since.
        if signal.input == nil { return }
        switch signal.step {
        case .manualSources: manualSources.append(signal)
        case .ports: ports.append(signal)
        case nil: preconditionFailure("a loop gets the nodes of its own inputs")
        }
    }

    /// Puts the ports in line whose handlers are on the stack: a run inside a handler goes on with the port's next message.
    func runBegins() { for signal in serving.value { ports.append(signal) } }

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

    /// Serves the manual sources that were signalled when the step began.
    ///
    /// - Returns: True if a handler was called.
    @inline(__always)
    func serveManualSources() -> Bool { !manualSources.isEmpty && serve(manualSources) }

    /// Serves the ports that had messages when the step began.
    ///
    /// - Returns: True if a handler was called.
    @inline(__always)
    func servePorts() -> Bool { !ports.isEmpty && serve(ports) }

    /// Serves the inputs of one step, each once, as far as the step's budget goes.
    ///
    /// Those that it does not reach stay in front: sent to the back unserved, they would never be reached
    /// behind one that always has more.
    private func serve(_ queue: ReadyQueue) -> Bool {
        var budget = Budget()
        var handled = false
        var rest = queue.count
        guard rest > 0, let mode = members.currentMode else { return false }
        while rest > 0, !budget.isSpent, let (signal, input) = queue.next(in: mode) {
            rest -= 1
            let served = input.serve(in: self, &budget)
            if served.calledHandler { handled = true }
            if !served.hasMore { continue }
            if budget.isSpent && !served.calledHandler { queue.prepend(signal) } else { becameReady(signal) }
        }
        return handled
    }

    /// Puts back in line what was put aside for not being in the current mode.
    func modesDidChange() {
        manualSources.modeDidChange()
        ports.modeDidChange()
    }

    /// Forgets the inputs in line: the loop has ended.
    func end() {
        manualSources.removeAll()
        ports.removeAll()
    }

    // MARK: - The input's side

    /// Adds an input to a mode, or to the common modes.
    func add(_ input: any SignalledInput, to mode: RunLoop.Mode) {
        let isNew = input.membership.loop == nil
        // It may have been put aside for not being in this mode.
        if members.add(input, to: mode) && !isNew { modesDidChange() }
    }

    /// Notes that a port's handlers are about to be called.
    func beginServing(_ signal: ReadyNode) { serving.value.append(signal) }

    /// Notes that the innermost port was served.
    func endServing() { serving.value.removeLast() }
}
