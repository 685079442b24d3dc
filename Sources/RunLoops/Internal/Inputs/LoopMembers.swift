/// The inputs of one loop, and the modes that they are in.
///
/// It owns the list of inputs, the table of modes, and the mode that runs; and once it has ended it refuses new inputs. The
/// parts that serve inputs of one kind, such as ``LoopTimers``, ask it for the mode that runs.
///
/// > Thread safety: the loop's own thread only.
final class LoopMembers {
    let handle: LoopHandle
    let handlers: HandlerCaller

    /// All inputs, in no order.
    private(set) var inputs: [any LoopInput] = []

    /// The modes with an input, and those that are common.
    ///
    /// Without the checks that a class's properties cost, which ``ExclusivityUnchecked`` argues.
    private let table = ExclusivityUnchecked(ModeTable())

    /// The mode of the innermost run, or nil between runs.
    private(set) var currentMode: RunLoop.Mode?

    /// True if that mode is one of the common ones.
    private(set) var modeIsCommon = false

    /// True if that mode holds an input that can become ready.
    ///
    /// Each pass asks for this twice, so it compares no names of modes.
    var modeIsAlive: Bool { @inline(__always) get { modes.runningIsAlive } }

    /// True once the thread ends: nothing can be added any more.
    private(set) var hasEnded = false

    init(_ handle: LoopHandle, _ handlers: HandlerCaller) {
        self.handle = handle
        self.handlers = handlers
    }

    // MARK: - Modes

    /// The modes with an input, and those that are common.
    var modes: ModeTable {
        @inline(__always) _read { yield table.value }
    }

    /// Has another mode run, or none.
    ///
    /// - Returns: True if it is not the mode that ran before.
    func run(in mode: RunLoop.Mode?) -> Bool {
        // Asked again also for the mode of an outer run: it may have become common meanwhile.
        table.value.run(in: mode)
        modeIsCommon = mode.map { modes.isCommon($0) } ?? false
        if currentMode == mode { return false }
        currentMode = mode
        return true
    }

    /// Makes a mode common: the inputs that were added to the common modes join it.
    ///
    /// - Returns: False if the mode is common already.
    func addCommonMode(_ mode: RunLoop.Mode) -> Bool {
        guard table.value.addCommon(mode) else { return false }
        for input in inputs where input.membership.followsCommon { join(input, mode) }
        if currentMode == mode { modeIsCommon = true }
        return true
    }

    /// Keeps a mode alive as an input does, for good.
    func keepAlive(_ mode: RunLoop.Mode) { table.value.countInput(in: mode, by: 1) }

    // MARK: - Inputs

    /// Adds an input to a mode, or to the common modes.
    ///
    /// - Returns: False if that changed nothing: it is there already, or the thread is ending.
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

    /// Counts the modes of an input again, which now keeps them alive, or no longer does.
    func countAgain(_ input: any LoopInput) {
        guard input.membership.loop === self else { return }
        for mode in input.membership.modes {
            table.value.countInput(in: mode, by: input.keepsModeAlive ? 1 : -1)
        }
    }

    /// Takes an input out of a mode, or out of all modes that are common.
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

    /// Takes an input out of every mode, and tells it.
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

    /// Ends the program unless the calling thread is the loop's.
    func requireCurrent(_ member: StaticString) -> LoopMembers {
        Fork.check(member)
        if RunLoop.existing?.handle !== handle {
            misuse(
                "\(member): called outside the thread of the loop it is in; perform a block on that loop and call it there"
            )
        }
        return self
    }

    /// Refuses new inputs from now on: the thread ends.
    func refuseInputs() { hasEnded = true }

    /// Takes out all inputs, and tells them.
    func removeAll() { while let input = inputs.last { remove(input) } }
}
