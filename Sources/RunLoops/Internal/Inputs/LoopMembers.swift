/// The inputs of one loop, and the modes that they are in.
///
/// This object owns the list of inputs and the table of modes, and keeps track of the running mode. After the loop has ended, it
/// refuses new inputs. The parts that serve inputs of one kind, such as ``LoopTimers``, get the running mode from this object.
///
/// > Thread safety: the loop's own thread only.
final class LoopMembers {
    let handle: LoopHandle
    let handlers: HandlerCaller

    /// All inputs, in no particular order.
    private(set) var inputs: [any LoopInput] = []

    /// The table of the modes that are common, are running, or contain an input that keeps them alive.
    ///
    /// The table is stored without the exclusivity checks of class properties; see ``ExclusivityUnchecked`` for the reason.
    private let table = ExclusivityUnchecked(ModeTable())

    /// The mode of the innermost run; nil between runs.
    private(set) var currentMode: RunLoop.Mode?

    /// True if the current mode is a common mode.
    private(set) var modeIsCommon = false

    /// True if the current mode holds an input that can become ready.
    ///
    /// Each pass reads this property twice. So the getter is fast: it does not compare the names of modes.
    var modeIsAlive: Bool { @inline(__always) get { modes.runningIsAlive } }

    /// True after the loop's thread has begun to end.
    ///
    /// The loop then accepts no inputs.
    private(set) var hasEnded = false

    init(_ handle: LoopHandle, _ handlers: HandlerCaller) {
        self.handle = handle
        self.handlers = handlers
    }

    // MARK: - Modes

    /// The modes that are common, are running, or contain an input that keeps them alive.
    var modes: ModeTable {
        @inline(__always) _read { yield table.value }
    }

    /// Sets the current mode when a run begins or returns; nil if no run is left.
    ///
    /// - Returns: True if the current mode has changed.
    func run(in mode: RunLoop.Mode?) -> Bool {
        // The table is updated even when an outer run's mode becomes current again, because an inner run can have made that mode
        // common.
        table.value.run(in: mode)
        modeIsCommon = mode.map { modes.isCommon($0) } ?? false
        if currentMode == mode { return false }
        currentMode = mode
        return true
    }

    /// Makes a mode common, and adds the inputs of the common modes to that mode.
    ///
    /// - Returns: False if the mode is common already.
    func addCommonMode(_ mode: RunLoop.Mode) -> Bool {
        guard table.value.addCommon(mode) else { return false }
        for input in inputs where input.membership.followsCommon { join(input, mode) }
        if currentMode == mode { modeIsCommon = true }
        return true
    }

    /// Keeps a mode alive permanently, as if it always contained an input.
    func keepAlive(_ mode: RunLoop.Mode) { table.value.countInput(in: mode, by: 1) }

    // MARK: - Inputs

    /// Adds an input to a mode, or to the common modes.
    ///
    /// - Returns: False if the input is already in the mode, or the thread is ending.
    @discardableResult
    func add(_ input: any LoopInput, to mode: RunLoop.Mode) -> Bool {
        if hasEnded { return false }
        if input.membership.loop == nil {
            input.membership.loop = self
            input.membership.position = inputs.count
            inputs.append(input)
        }
        let before = input.membership.modes.count
        if mode == .common {
            input.membership.followsCommon = true
            for mode in modes.common { join(input, mode) }
        } else {
            join(input, mode)
        }
        return input.membership.modes.count > before
    }

    private func join(_ input: any LoopInput, _ mode: RunLoop.Mode) {
        guard input.membership.join(mode) else { return }
        if input.keepsModeAlive { table.value.countInput(in: mode, by: 1) }
    }

    /// Corrects the counts of the modes that an input is in, after the input's `keepsModeAlive` has changed.
    ///
    /// The count of a mode is the number of inputs that keep the mode alive.
    func countAgain(_ input: any LoopInput) {
        guard input.membership.loop === self else { return }
        for mode in input.membership.modes {
            table.value.countInput(in: mode, by: input.keepsModeAlive ? 1 : -1)
        }
    }

    /// Removes an input from a mode, or from all common modes.
    func remove(_ input: any LoopInput, from mode: RunLoop.Mode) {
        guard input.membership.loop === self else { return }
        if mode == .common {
            input.membership.followsCommon = false
            for mode in modes.common { leave(input, mode) }
        } else {
            leave(input, mode)
        }
        if input.membership.modes.isEmpty && !input.membership.followsCommon { remove(input) }
    }

    private func leave(_ input: any LoopInput, _ mode: RunLoop.Mode) {
        guard input.membership.leave(mode) else { return }
        if input.keepsModeAlive { table.value.countInput(in: mode, by: -1) }
    }

    /// Removes an input from every mode, and notifies the input.
    func remove(_ input: any LoopInput) {
        guard input.membership.loop === self else { return }
        for mode in input.membership.modes where input.keepsModeAlive {
            table.value.countInput(in: mode, by: -1)
        }
        let position = input.membership.position
        input.membership = Membership()
        inputs.swapRemove(at: position)
        if position < inputs.count { inputs[position].membership.position = position }
        input.didLeave(self)
    }

    // MARK: - Thread

    /// Ends the program unless the calling thread is the loop's thread.
    func requireCurrent(_ member: StaticString) -> LoopMembers {
        Fork.check(member)
        if RunLoop.existing?.handle !== handle {
            misuse(
                "\(member): called outside the thread of the loop it is in; perform a block on that loop and call it there"
            )
        }
        return self
    }

    /// Refuses new inputs from now on, because the thread is ending.
    func refuseInputs() { hasEnded = true }

    /// Removes all inputs, and notifies each.
    func removeAll() { while let input = inputs.last { remove(input) } }
}
