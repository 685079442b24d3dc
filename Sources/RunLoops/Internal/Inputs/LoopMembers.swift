internal import CRunLoops

/// The inputs of one loop, and the modes that they are in.
///
/// This object owns the list of inputs and the table of modes, and keeps track of the running mode. After the loop has ended, it
/// refuses new inputs. The parts that serve inputs of one kind, such as ``LoopTimers``, get the running mode from this object.
///
/// > Thread safety: the loop's own thread only.
final class LoopMembers {
    let handle: LoopHandle
    let handlers: HandlerCaller

    /// The state that is neither the table of modes nor constant.
    ///
    /// Like the table, it is stored without exclusivity checks, but needs no memory of its own. Nothing that can destroy an object
    /// of the user changes the state: the callers of the methods hold the inputs.
    #if !CHECKS_EXCLUSIVITY
        @safe @exclusivity(unchecked)
    #endif
    private var state = State()

    private struct State: ~Copyable {
        var inputs: [any LoopInput] = []
        var currentMode: Mode?
        var modeIsCommon = false
        var hasEnded = false
    }

    /// All inputs, in no particular order.
    var inputs: [any LoopInput] { @inline(__always) _read { yield state.inputs } }

    /// The table of the modes that are common, are running, or contain an input that keeps them alive.
    ///
    /// The table is stored without the exclusivity checks of class properties; see ``ExclusivityUnchecked`` for the reason.
    #if !CHECKS_EXCLUSIVITY
        @safe @exclusivity(unchecked)
    #endif
    private var table = ModeTable()

    /// The mode of the innermost run; nil between runs.
    var currentMode: Mode? { @inline(__always) _read { yield state.currentMode } }

    /// True if the current mode is a common mode.
    var modeIsCommon: Bool { state.modeIsCommon }

    /// True if the current mode holds an input that can become ready.
    ///
    /// Each pass reads this property twice. So the getter is fast: it does not compare the names of modes.
    var modeIsAlive: Bool { @inline(__always) get { modes.runningIsAlive } }

    /// True after the loop's thread has begun to end.
    ///
    /// The loop then accepts no inputs.
    var hasEnded: Bool { @inline(__always) get { state.hasEnded } }

    /// The ends and removals that the loop has taken from its handle, and that have not taken effect yet.
    private var handOvers = HandOverList()
    /// True while hand-overs take effect.
    private(set) var isTakingHandOvers = false

    init(_ handle: LoopHandle, _ handlers: HandlerCaller) {
        self.handle = handle
        self.handlers = handlers
    }

    // MARK: - Modes

    /// The modes that are common, are running, or contain an input that keeps them alive.
    var modes: ModeTable {
        @inline(__always) _read { yield table }
    }

    /// Sets the current mode when a run begins or returns; nil if no run is left.
    ///
    /// - Returns: True if the current mode has changed.
    func run(in mode: Mode?) -> Bool {
        // The table is updated even when an outer run's mode becomes current again, because an inner run can have made that mode
        // common.
        table.run(in: mode)
        state.modeIsCommon = mode.map { modes.isCommon($0) } ?? false
        if currentMode == mode { return false }
        state.currentMode = mode
        handle.runningMode.publish(mode)
        return true
    }

    /// Makes a mode common, and adds the inputs of the common modes to that mode.
    ///
    /// - Returns: False if the mode is common already.
    func addCommonMode(_ mode: Mode) -> Bool {
        guard table.addCommon(mode) else { return false }
        for input in inputs where input.membership.followsCommon { join(input, mode) }
        if currentMode == mode { state.modeIsCommon = true }
        return true
    }

    /// Keeps a mode alive permanently, as if it always contained an input.
    func keepAlive(_ mode: Mode) { table.countInput(in: mode, by: 1) }

    // MARK: - Inputs

    /// Adds an input to a mode, or to the common modes.
    ///
    /// - Returns: False if the input is already in the mode, or the thread is ending.
    @discardableResult
    func add(_ input: any LoopInput, to mode: Mode) -> Bool {
        if hasEnded { return false }
        if input.membership.loop == nil {
            input.membership.loop = self
            input.membership.position = inputs.count
            state.inputs.append(input)
        }
        let before = input.membership.modeCount
        if mode == .common {
            input.membership.followsCommon = true
            for mode in modes.common { join(input, mode) }
        } else {
            join(input, mode)
        }
        return input.membership.modeCount > before
    }

    private func join(_ input: any LoopInput, _ mode: Mode) {
        guard input.membership.join(mode) else { return }
        if input.keepsModeAlive { table.countInput(in: mode, by: 1) }
    }

    /// Corrects the counts of the modes that an input is in, after the input's `keepsModeAlive` has changed.
    ///
    /// The count of a mode is the number of inputs that keep the mode alive.
    func countAgain(_ input: any LoopInput) {
        guard input.membership.loop === self else { return }
        for mode in input.membership.modes {
            table.countInput(in: mode, by: input.keepsModeAlive ? 1 : -1)
        }
    }

    /// Removes an input from a mode, or from all common modes.
    func remove(_ input: any LoopInput, from mode: Mode) {
        guard input.membership.loop === self else { return }
        if mode == .common {
            input.membership.followsCommon = false
            for mode in modes.common { leave(input, mode) }
        } else {
            leave(input, mode)
        }
        if input.membership.modeCount == 0 && !input.membership.followsCommon { remove(input) }
    }

    private func leave(_ input: any LoopInput, _ mode: Mode) {
        guard input.membership.leave(mode) else { return }
        if input.keepsModeAlive { table.countInput(in: mode, by: -1) }
    }

    /// Removes an input from every mode, and notifies the input.
    func remove(_ input: any LoopInput) {
        guard input.membership.loop === self else { return }
        if input.keepsModeAlive {
            for place in 0..<input.membership.modeCount {
                table.countInput(in: input.membership.mode(at: place), by: -1)
            }
        }
        let position = input.membership.position
        input.membership = Membership()
        state.inputs.swapRemove(at: position)
        if position < inputs.count { inputs[position].membership.position = position }
        input.didLeave(self)
    }

    // MARK: - Thread

    /// The members of the calling thread's loop; nil if the thread has no loop.
    static var ofThread: LoopMembers? {
        // Safe: the loop in the thread's slot has the members.
        unsafe runloops_thread_members().map {
            unsafe Unmanaged<LoopMembers>.fromOpaque($0).takeUnretainedValue()
        }
    }

    /// Ends the program unless the calling thread is the loop's thread.
    func requireCurrent(_ member: StaticString) -> LoopMembers {
        Fork.check(member)
        if LoopHandle.ofThread !== handle {
            misuse(
                "\(member): called outside the thread of the loop it is in; perform a block on that loop and call it there"
            )
        }
        return self
    }

    /// Refuses new inputs from now on, because the thread is ending.
    func refuseInputs() { state.hasEnded = true }

    /// Removes all inputs, and notifies each.
    func removeAll() { while let input = inputs.last { remove(input) } }
}

// The ends and removals that other threads hand over.
extension LoopMembers {
    /// Lets everything that other threads have handed over take effect.
    ///
    /// The loop calls this where a handler could be called, because what takes effect can destroy objects of the user. If this is
    /// called again meanwhile, the inner call goes on with the list of the outer one.
    func takeHandOvers() {
        let isInside = isTakingHandOvers
        isTakingHandOvers = true
        defer { isTakingHandOvers = isInside }
        while true {
            if handOvers.isEmpty {
                if !wasHandedOver { return }
                handOvers = handle.handOvers.takeAll()
            }
            handOvers.popFirst()?.takeEffect()
        }
    }

    /// Does the same as ``takeHandOvers()``, unless this is already under way.
    @inline(__always)
    func takeHandOversIfAny() { if wasHandedOver && !isTakingHandOvers { takeHandOvers() } }

    /// True if another thread has handed over an end or a removal that the loop has not taken yet.
    var wasHandedOver: Bool { @inline(__always) get { !handle.handOvers.isEmpty } }

    /// True if nothing that other threads have handed over waits to take effect.
    var hasNoHandOvers: Bool { handOvers.isEmpty && !wasHandedOver }

    /// Lets everything that was handed over take effect, and refuses later hand-overs, because the loop has ended.
    func closeHandOvers() {
        repeat { takeHandOvers() } while !handle.handOvers.close()
    }

    /// Returns true if the handler of an input may be called now in the current mode.
    ///
    /// From this answer on, the call counts as under way for a thread that ends or removes the input.
    @inline(__always)
    func admits(_ input: some LoopInput & EndedAnywhere) -> Bool {
        input.end.isUntouched || admits(touched: input.end) && isIn(input)
    }

    private func isIn(_ input: some LoopInput) -> Bool {
        guard let mode = currentMode else { return false }
        return input.isIn(mode)
    }

    /// Lets the removals of an input take effect, and returns true if the input has not ended.
    @inline(never)
    func admits(touched end: borrowing InputEnd) -> Bool {
        repeat {
            end.clearRemovals()
            takeHandOvers()
            if end.hasEnded { return false }
        } while !end.isUntouched
        return true
    }
}
