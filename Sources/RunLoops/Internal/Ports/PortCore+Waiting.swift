internal import Synchronization

// Senders that block until a port has room.

extension PortCore {
    /// Returns the number of messages to send in one batch, at least one.
    ///
    /// If the port has no limit, the result is `Int.max`. If other senders wait for room, the result is 1. Otherwise the result is
    /// the number of messages for which there is room now.
    @usableFromInline
    func roomAtOnce() -> Int { queue.roomAtOnce() }

    /// True if the port is in the calling thread's loop, or in a port set that the calling thread serves.
    var isReceivedHere: Bool {
        if let handle = LoopHandle.ofThread, receiver.claim.isHeld(by: handle) { return true }
        return PortSetServers.isServedHere(receiver.claim.holderID)
    }

    /// The receiver on which waiting senders depend at present: the thread that serves the port's set, or the port's loop.
    var waitTarget: WaitTarget { PortSetServers.waitTarget(of: receiver.claim.holderID) }

    /// The outcome of a sender's first attempt to queue its messages.
    ///
    /// The sender makes this attempt under the lock of the wait queue.
    private enum Finding {
        case sent
        case refused(Refusal)
        case inLine
    }

    /// Puts the calling thread in the port's wait queue, and blocks until there is room for its messages, which are linked in
    /// `chain`.
    ///
    /// If the deadline has passed, or if the calling thread is the receiver, the method tries once to queue the messages, and does
    /// not block.
    ///
    /// - Returns: Nil if the messages were queued; otherwise the reason for the refusal. In that case the caller still owns the
    ///   nodes.
    @inline(never)
    func waitForRoom(_ chain: Mailbox.Chain, _ deadline: Moment) -> Refusal? {
        let gate = ThreadGate()
        let sender = WaitingSenders.Sender(chain) { _ in gate.open() }
        let mayWait = deadline == .never || deadline > Moment.now()
        let isReceiver = isReceivedHere
        let finding: Finding = queue.changeLine { line, pump in
            if isClosed { return .refused(.invalid) }
            queue.append(sender, to: &line, &pump)
            if mayWait && !isReceiver { return .inLine }
            defer { queue.storeCount(of: line) }
            if line.leave(sender) != nil { return .sent }
            // Check again: if the port has closed since the first check, the port has refused the chain for that reason, and not
            // for lack of room.
            if isClosed { return .refused(.invalid) }
            return .refused(mayWait ? .wouldDeadlock : .timedOut)
        }
        switch finding {
        case .sent: return nil
        case .refused(let refusal): return refusal
        case .inLine: queue.lookForRoomAgain()
        }
        if Recorder.isOn { Recorder.note(.fullPort, RecordedPlaces.Place(origin)) }
        let wait = threadWait(of: sender)
        let wouldDeadlock = wait.begin() != nil
        if !wouldDeadlock { _ = gate.wait(until: deadline) }
        wait.end()
        switch queue.leaveLine({ $0.leave(sender) }) {
        case .sent: return nil
        case .closed: return .invalid
        case .refused: return .wouldDeadlock
        case nil: return wouldDeadlock ? .wouldDeadlock : .timedOut
        }
    }

    /// Tries once, without blocking, to queue messages behind those of all waiting senders.
    ///
    /// - Returns: Nil if the messages were queued; otherwise the reason for the refusal. In that case the caller still owns the
    ///   nodes.
    func sendOnceInLine(_ chain: Mailbox.Chain) -> Refusal? {
        waitForRoom(chain, Moment(.distantPast))
    }

    /// Describes a sender's wait for the receiver, for the detection of deadlocks.
    ///
    /// The wait lasts as long as the sender is in the wait queue.
    private func threadWait(of sender: WaitingSenders.Sender) -> ThreadWait {
        ThreadWait(
            in: "Port.send", fileID: origin.fileID, line: Int(origin.line),
            refuse: { _ in
                let refuses = self.queue.leaveLine { $0.refuse(sender) }
                if refuses { sender.notify(.refused) }
                return refuses
            },
            for: {
                let waits = self.queue.waitingSenders.withLock { $0.contains(sender) }
                return waits ? [self.waitTarget] : []
            })
    }
}
