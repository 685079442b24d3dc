extension RunLoop {
    /// Removes an input from a mode: at once on the loop's thread, and through a hand-over on another thread.
    func take(_ input: some Removable, outOf mode: Mode) {
        if Fork.isChild { return }
        if let core = coreIfCurrent {
            core.members.takeHandOversIfAny()
            return input.leave(core.members, mode)
        }
        // If the input is on its way from another loop to this one, the removal takes the same way.
        if !input.end.handOver(before: handle, { [self] in take(input, outOf: mode) }) {
            handOverRemoval { input.leaveForAnotherThread($0, mode) }
        }
        // The mark comes after the hand-over, because the loop clears the mark before it takes the hand-overs.
        input.end.markRemoval()
    }

    /// Removes an input from all modes: at once on the loop's thread, and through a hand-over on another thread.
    func takeOutOfAllModes(_ input: some Removable) {
        if Fork.isChild { return }
        if let core = coreIfCurrent {
            core.members.takeHandOversIfAny()
            return input.leaveAll(core.members, for: { input.leave(core.members, $0) })
        }
        if !input.end.handOver(before: handle, { [self] in takeOutOfAllModes(input) }) {
            handOverRemoval { loop in input.leaveAll(loop, for: { input.leaveForAnotherThread(loop, $0) }) }
        }
        input.end.markRemoval()
    }

    /// Removes a port, on any thread.
    ///
    /// A port has no mark: its loop looks for hand-overs before each message.
    func takePort(_ leave: @escaping (LoopMembers) -> Void) {
        if Fork.isChild { return }
        if let core = coreIfCurrent {
            core.members.takeHandOversIfAny()
            return leave(core.members)
        }
        handOverRemoval(leave)
    }

    /// Hands over a removal to the loop, which calls the closure on its thread; does nothing if the loop has ended.
    @inline(never)
    func handOverRemoval(_ remove: @escaping (LoopMembers) -> Void) { handOver { remove($0.members) } }

    /// Hands over a call to the loop, which makes the call on its thread; does nothing if the loop has ended.
    func handOver(_ call: @escaping (LoopCore) -> Void) {
        let handedOver = HandedOverCall { [handle] in
            // If another thread ends this loop, the end removes all inputs.
            if let core = RunLoop.coreOfThread(with: handle) { call(core) }
        }
        _ = handle.handOver(handedOver)
    }
}

/// What `RunLoopMember` asks an input for; `public` members, because the inputs are public.
extension Removable {
    /// Takes the input out of a mode of a loop; call `RunLoop.remove(_:forMode:)` instead.
    ///
    /// - Parameters:
    ///   - loop: The loop.
    ///   - mode: The mode, or `common` for all common modes. If the input is not in it, nothing happens.
    public func remove(from loop: RunLoop, forMode mode: Mode) { loop.take(self, outOf: mode) }

    /// Takes the input out of all modes of a loop; call `RunLoop.remove(_:)` instead.
    ///
    /// - Parameter loop: The loop. If the input is not in it, nothing happens.
    public func remove(from loop: RunLoop) { loop.takeOutOfAllModes(self) }
}
