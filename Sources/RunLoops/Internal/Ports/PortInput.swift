/// A port as an input of one loop, with its handlers.
///
/// Only the loop's thread may use this.
final class PortInput: SignalledInput {
    let core: PortCore
    /// The port itself, which the input retains while the port is in a loop.
    private let port: AnyObject
    /// The mutable state, whose parts have accessors in `PortInput+State`.
    let state = ExclusivityUnchecked(State())

    init(_ port: AnyObject, _ core: PortCore, _ handle: LoopHandle) {
        self.port = port
        self.core = core
        signal = ReadyNode(handle: handle, input: self)
    }

    var keepsModeAlive: Bool { true }
    var step: SignalledStep { .ports }
    var unservedParts: [Unserved] { [Unserved("port", madeAt: core.origin)] }

    /// Stores a handler for a mode, unless a handler is already stored for this mode.
    ///
    /// The mode can be `.common`, which stands for all common modes.
    func add(_ deliver: @escaping (Node.Slot) -> Void, for mode: Mode) {
        handlers.add(Handler(mode: mode, deliver: deliver))
    }

    /// Removes the handlers for a mode.
    ///
    /// - Returns: The removed handlers. The caller must make its state consistent before it releases them, because their
    ///   destruction can run user code.
    func removeHandlers(for mode: Mode, in loop: LoopMembers) -> [Handler] {
        hasLeftAMode = true
        return handlers.remove(for: mode, whereCommon: loop.modes.common)
    }

    /// Arms the port's mailbox, or the bell of a signal port, for the first time in this loop.
    ///
    /// If there are messages, notices or a signal already, this makes the port ready instead.
    func arm(in loop: ReadyInputs) {
        guard let signal, !hasBeenArmed else { return }
        hasBeenArmed = true
        if core.isSignalPort {
            if core.takeMail() > 0 {
                loop.becameReady(signal)
            } else if !core.bell.armUnlessRung(with: signal.retainedNode()) {
                loop.becameReady(ReadyNode.takeRetained(signal.node))
            }
        } else if core.takeMail() > 0 || !core.arm(with: signal) {
            loop.becameReady(signal)
        }
    }

    func serve(in loop: ReadyInputs, _ signal: ReadyNode, _ budget: inout Budget) -> Served {
        if loop.members.wasHandedOver && !isInModeAfterHandOvers(in: loop) { return Served() }
        if state.value.signal == nil { return Served() }
        if core.isClosed {
            loop.members.remove(self)
            return Served()
        }
        if signal.isOut { return Served() }
        guard let handler = handlers.handler(for: loop.members.currentMode) else {
            preconditionFailure("a port has a handler for each mode it is in")
        }
        loop.beginServing(signal)
        defer { loop.endServing() }
        if core.isSignalPort {
            guard let mode = loop.members.currentMode else {
                preconditionFailure("an input is served in a mode")
            }
            return serveRing(signal, handler.deliver, loop, mode)
        }
        // A run inside a handler can serve this port, too. So the flag is restored afterwards; otherwise the outer run would not
        // find that the port has left a mode.
        let hadLeftAMode = hasLeftAMode
        hasLeftAMode = false
        defer { if hadLeftAMode { hasLeftAMode = true } }
        return serveMessages(signal, handler.deliver, loop, &budget)
    }

    /// Lets the removals that other threads have handed over take effect.
    ///
    /// - Returns: False if the port has left the current mode. If it is in another mode, it waits for that mode.
    @inline(never)
    private func isInModeAfterHandOvers(in loop: ReadyInputs) -> Bool {
        loop.members.takeHandOvers()
        guard let signal else { return false }
        if let mode = loop.members.currentMode, isIn(mode) { return true }
        loop.becameReady(signal)
        return false
    }

    /// True if the port is still in the mode that it is served in, after the removals that other threads have handed over.
    @inline(__always)
    private func staysInMode(_ loop: ReadyInputs) -> Bool {
        if loop.members.wasHandedOver { loop.members.takeHandOvers() }
        return !hasLeftAMode
    }

    private func serveRing(
        _ signal: ReadyNode, _ deliver: (Node.Slot) -> Void, _ loop: ReadyInputs, _ mode: Mode
    ) -> Served {
        guard core.bell.isNudgedOrRung || core.takeMail() > 0 else { return Served() }
        // The bell is armed before the handler is called, so that a ring during the call is not lost.
        let wasRung = core.bell.arm(with: signal.retainedNode())
        if wasRung {
            loop.handle.counters.portMessages.add()
            loop.handlers.call(core.origin, as: .port) { deliver(Node.Slot(signal.node)) }
        }
        var served = Served(calledHandler: wasRung)
        // The remaining mail contains only notices, because a signal port has no other mail. A notice that arrives from here on
        // nudges the bell again.
        var rest = self.signal != nil ? core.takeMail() : 0
        while rest > 0, self.signal != nil {
            rest -= 1
            if !membership.contains(mode) {
                // A handler has removed the port from this mode, so the port must be served in another mode. If the bell is no
                // longer armed, the thread that rang it makes the port ready.
                if let node = core.bell.disarm() {
                    _ = ReadyNode.takeRetained(node)
                    served.hasMore = true
                }
                break
            }
            guard let node = core.next else { break }
            if serveStandalone(core.take(from: node).slot, deliver, loop) { served.calledHandler = true }
        }
        // Another thread closed the port before the bell was armed, so no thread will ring the bell.
        if self.signal != nil && core.isClosed { served.hasMore = true }
        return served
    }

    /// Serves a message that was queued beyond the port's limit, or a notice that no send right is left.
    ///
    /// - Returns: True if a handler was called.
    @inline(never)
    private func serveStandalone(_ slot: Node.Slot, _ deliver: (Node.Slot) -> Void, _ loop: ReadyInputs)
        -> Bool
    {
        defer { slot.node.freeStandalone() }
        switch slot.node.mark {
        case .beyondLimit:
            loop.handle.counters.portMessages.add()
            loop.handlers.callForMessage(core.origin, as: .port, slot.node) { deliver(slot) }
            return true
        case .noSenders:
            let handler = noSenders
            guard core.noSendersNoticeArrives(isWanted: handler != nil), let handler else { return false }
            loop.handlers.call(core.origin, as: .port, handler)
            return true
        case .ordinary, .pack: preconditionFailure("a node of a slab is no lone one")
        }
    }

    private func serveMessages(
        _ signal: ReadyNode, _ deliver: (Node.Slot) -> Void, _ loop: ReadyInputs, _ budget: inout Budget
    ) -> Served {
        _ = core.takeMail()
        loop.handlers.beginMessages()
        var calledHandler = false
        var releaser = NodeReleaser()
        // A handler can run the loop, which continues to serve this port. If the handler removes the port from a mode, the
        // remaining messages wait for the next pass, because this mode can then have another handler.
        while staysInMode(loop), let node = core.next, budget.spend() {
            let taken = core.take(from: node)
            if !taken.takesRoom {
                if serveStandalone(taken.slot, deliver, loop) { calledHandler = true }
                continue
            }
            calledHandler = true
            loop.handle.counters.portMessages.add()
            loop.handlers.callForMessage(
                core.origin, as: .port, taken.slot.node, waiting: core.backlogCount + 1
            ) {
                deliver(taken.slot)
            }
            // If this message is not the last message in its node, a run inside the handler can have taken the other messages and
            // released the node.
            if taken.isLast { releaser.release(node) }
        }
        if core.isClosed { loop.members.remove(self) }
        let isLeft = self.signal != nil
        return Served(
            calledHandler: calledHandler, hasMore: isLeft && !signal.isOut && !core.arm(with: signal))
    }

    func didLeave(_ loop: LoopMembers) {
        guard let signal else { return }
        let askedForNoSenders = noSenders
        noSenders = nil
        if askedForNoSenders != nil { core.cancelNoSenders() }
        core.disarm(signal)
        signal.input = nil
        self.signal = nil
        hasLeftAMode = true
        unsafe core.receiver.state.value.input = nil
        core.receiver.claim.release()
        core.destroyWhatIsLeft()
        // The handler can hold the last reference to objects of the user, so it is released when the state is consistent.
        withExtendedLifetime(askedForNoSenders) {}
    }
}
