/// A port's place in one loop, with its handlers.
///
/// The loop's thread only.
final class PortInput: SignalledInput {
    private let core: PortCore
    /// The port itself, which lives as long as it is in a loop.
    private let port: AnyObject
    /// What changes; `PortInput+State` gives the parts their names.
    let state = ExclusivityUnchecked(State())

    init(_ port: AnyObject, _ core: PortCore, _ handle: LoopHandle) {
        self.port = port
        self.core = core
        signal = ReadyNode(handle: handle, input: self)
    }

    var keepsModeAlive: Bool { true }
    var step: SignalledStep { .ports }

    /// Keeps a handler for a mode, or for the common ones, unless there is one.
    func add(_ deliver: @escaping (Node.Slot) -> Void, for mode: RunLoop.Mode) {
        handlers.add(Handler(mode: mode, deliver: deliver))
    }

    /// Takes out the handlers for a mode.
    ///
    /// - Returns: What has gone, for the caller to let go of when all is in order.
    func removeHandlers(for mode: RunLoop.Mode, in loop: LoopMembers) -> [Handler] {
        hasLeftAMode = true
        return handlers.remove(for: mode, whereCommon: loop.modes.common)
    }

    /// Asks to be told of the next message, and sees those that came before.
    func arm(in loop: ReadyInputs) {
        guard let signal, !hasBeenArmed else { return }
        hasBeenArmed = true
        if core.merges {
            if core.takeMail() > 0 {
                loop.becameReady(signal)
            } else if !core.bell.armUnlessRung(with: signal.retainedNode()) {
                loop.becameReady(ReadyNode.takeRetained(signal.node))
            }
        } else if core.takeMail() > 0 || !core.arm(with: signal) {
            loop.becameReady(signal)
        }
    }

    func serve(in loop: ReadyInputs, _ budget: inout Budget) -> Served {
        guard let signal else { return Served() }
        if core.isClosed {
            loop.members.remove(self)
            return Served()
        }
        if signal.isOut { return Served() }
        guard let mode = loop.members.currentMode, let handler = handlers.handler(for: mode) else {
            preconditionFailure("a port has a handler for each mode it is in")
        }
        loop.beginServing(signal)
        defer { loop.endServing() }
        if core.merges { return serveRing(signal, handler.deliver, loop, mode) }
        // A run inside a handler comes here again, and must not hide from the outer one that the port has left a mode.
        let hadLeftAMode = hasLeftAMode
        hasLeftAMode = false
        defer { if hadLeftAMode { hasLeftAMode = true } }
        return serveMessages(signal, handler.deliver, loop, mode, &budget)
    }

    private func serveRing(
        _ signal: ReadyNode, _ deliver: (Node.Slot) -> Void, _ loop: ReadyInputs, _ mode: RunLoop.Mode
    ) -> Served {
        guard core.bell.isNudgedOrRung || core.takeMail() > 0 else { return Served() }
        // Armed before the call, so that a ring during it is not lost.
        let wasRung = core.bell.arm(with: signal.retainedNode())
        if wasRung {
            loop.handle.counters.messages.add()
            loop.handlers.call(core.origin, as: .port) { deliver(Node.Slot(signal.node)) }
        }
        var served = Served(calledHandler: wasRung)
        // Only notices: a port of signals has no other mail. Those that come from here on nudge the bell again.
        var rest = self.signal != nil ? core.takeMail() : 0
        while rest > 0, self.signal != nil {
            rest -= 1
            if !membership.contains(mode) {
                // A handler has taken the port out of this mode; another one is to serve it. If the bell is not armed
                // any more, whoever has rung it sees to that.
                if let node = core.bell.disarm() {
                    _ = ReadyNode.takeRetained(node)
                    served.hasMore = true
                }
                break
            }
            guard let node = core.next else { break }
            if serveLone(core.take(from: node).slot, deliver, loop) { served.calledHandler = true }
        }
        // Closed by another thread before the bell was armed: nobody rings any more.
        if self.signal != nil && core.isClosed { served.hasMore = true }
        return served
    }

    /// Serves what is in the queue beyond the limit.
    ///
    /// - Returns: Whether a handler was called.
    @inline(never)
    private func serveLone(
        _ slot: Node.Slot, _ deliver: (Node.Slot) -> Void, _ loop: ReadyInputs
    ) -> Bool {
        defer { slot.node.freeLone() }
        switch slot.node.mark {
        case .beyondLimit:
            loop.handle.counters.messages.add()
            loop.handlers.call(core.origin, as: .port) { deliver(slot) }
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
        _ signal: ReadyNode, _ deliver: (Node.Slot) -> Void, _ loop: ReadyInputs, _ mode: RunLoop.Mode,
        _ budget: inout Budget
    ) -> Served {
        _ = core.takeMail()
        var calledHandler = false
        var releaser = NodeReleaser()
        // A handler may run the loop, which serves on. If it takes the port out of a mode, the rest waits for the next pass:
        // this mode may have another handler then.
        while !hasLeftAMode, let node = core.next, budget.spend() {
            let taken = core.take(from: node)
            if !taken.counts {
                if serveLone(taken.slot, deliver, loop) { calledHandler = true }
                continue
            }
            calledHandler = true
            loop.handle.counters.messages.add()
            loop.handlers.call(core.origin, as: .port) { deliver(taken.slot) }
            // If it is not the last, a run inside the handler may have taken the others, and the node with them.
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
        if askedForNoSenders != nil { core.stopAskingForNoSenders() }
        if core.merges {
            if let node = core.bell.disarm() { _ = ReadyNode.takeRetained(node) }
        } else if core.mailbox.disarm() {
            _ = ReadyNode.takeRetained(signal.node)
        }
        signal.input = nil
        self.signal = nil
        hasLeftAMode = true
        unsafe core.input = nil
        core.claim.giveUp()
        core.destroyWhatIsLeft()
        // The handler may be the last to hold user code's objects: they go when everything is in order.
        withExtendedLifetime(askedForNoSenders) {}
    }
}

extension PortCore {
    /// Puts the port into a mode.
    func join(
        _ loop: ReadyInputs, _ mode: RunLoop.Mode, port: AnyObject,
        deliver: @escaping (Node.Slot) -> Void
    ) {
        if loop.members.hasEnded || isClosed { return }
        guard claim.take(for: loop.handle) else {
            // Closed since, by a thread that holds the claim while it destroys what is queued.
            if isClosed { return }
            misuse(
                "RunLoop.add(port): the port made at \(origin) is in a set or is in another loop; remove it there first"
            )
        }
        let joined: PortInput
        if let known = unsafe input {
            joined = known
        } else {
            joined = PortInput(port, self, loop.handle)
            unsafe input = joined
        }
        joined.add(deliver, for: mode)
        loop.add(joined, to: mode)
        joined.arm(in: loop)
        // It may have been closed by another thread since it was looked at, which then found no loop to tell.
        if isClosed { loop.members.remove(joined) }
    }

    /// Takes the port out of a mode.
    ///
    /// Its messages wait.
    func leave(_ loop: LoopMembers, _ mode: RunLoop.Mode) {
        guard claim.isHeld(by: loop.handle), let input = unsafe input else { return }
        let removed = input.removeHandlers(for: mode, in: loop)
        loop.remove(input, from: mode)
        withExtendedLifetime(removed) {}
    }
}
