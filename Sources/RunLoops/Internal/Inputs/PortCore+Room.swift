internal import CThreads
internal import Synchronization

// The room of a port with a limit, senders that wait for it, and the handshake that keeps them from sleeping while there is
// some.
//
// The mailbox's word carries room; a push takes it, in the exchange that queues the message. The receiver only counts the
// messages that it hands out, in `handedOut`. A sender that finds too little room in the word brings it up to date: under the
// lock of the line it stores `roomReturned`, and adds to the word what was handed out since the last time. Under that lock,
//
//     room in the word + messages queued or in the backlog + handedOut - roomReturned = limit
//
// so a sender is refused only if the port is full at that moment. Without the lock the word's room may be less than that, and
// never more: no sender is accepted by a full port.
//
// The receiver stores `handedOut`, then loads `waitingCount`. A sender stores `waitingCount`, then loads `handedOut`. If
// neither side's store and load are reordered, at least one side sees the other's store, so no sender sleeps while there is
// room.
//
// The receiver takes its two steps for every message; a sender takes them only before it sleeps. So the fences are unequal:
// the receiver's is light, and the sender's is a heavy one that orders the steps of both threads.

extension PortCore {
    // MARK: - Room

    /// Queues messages if there is room for them; where there is no limit, there always is.
    @inline(__always)
    func push(_ chain: Mailbox.Chain) -> Mailbox.Push {
        if limit == 0 { return mailbox.push(chain) }
        while true {
            let push = mailbox.pushIfRoom(chain)
            guard case .full = push, bringRoomUpToDate() else { return push }
        }
    }

    /// The number of messages to send at once: those that have room now, and one if none has.
    @usableFromInline
    func roomAtOnce() -> Int {
        if limit == 0 { return .max }
        if waitingCount.load(ordering: .relaxed) > 0 { return 1 }
        var room = mailbox.current.room
        if room == 0 && bringRoomUpToDate() { room = mailbox.current.room }
        return max(1, Int(room))
    }

    /// Puts the room of the messages handed out since the last time into the mailbox's word.
    ///
    /// - Returns: False if the receiver has handed out none.
    @inline(never)
    private func bringRoomUpToDate() -> Bool {
        // Without the lock this is a guess. If it is wrong, the sender comes into the line, and looks again under the lock.
        step(.roomLooks)
        if handedOut.load(ordering: .acquiring) == roomReturned.load(ordering: .relaxed) { return false }
        waitingSenders.withLock { _ in _ = bringRoomUpToDateLocked() }
        return true
    }

    private func bringRoomUpToDateLocked() -> Bool {
        step(.roomLooks)
        let count = handedOut.load(ordering: .sequentiallyConsistent)
        let before = roomReturned.load(ordering: .relaxed)
        if count == before { return false }
        roomReturned.store(count, ordering: .relaxed)
        mailbox.addRoom(count &- before)
        return true
    }

    // MARK: - Waiting

    /// The outcome of a sender's first try, which it makes under the lock.
    private enum Finding {
        case sent
        case refused(Refusal)
        case inLine
    }

    /// True if the port is in the calling thread's loop, or in a port set that the calling thread serves.
    var isReceivedHere: Bool {
        if let loop = RunLoop.existing, claim.isHeld(by: loop.handle) { return true }
        return SetService.isHere(claim.holderID)
    }

    /// The target of a wait for the receiver, at this moment: the thread that serves the port's set, or the port's loop.
    var receiver: Holding { SetService.holding(of: claim.holderID) }

    /// Joins the line of senders, and blocks until there is room for the chain.
    ///
    /// If the deadline has passed, or if the calling thread is the receiver, the sender tries once and does not block.
    ///
    /// - Returns: Nil once the chain is queued. Otherwise the reason why it was not; the nodes are still the caller's.
    @inline(never)
    func waitForRoom(_ chain: Mailbox.Chain, _ deadline: Moment) -> Refusal? {
        let gate = ThreadGate()
        let sender = WaitingSenders.Sender(chain) { _ in gate.open() }
        let mayWait = deadline == .never || deadline > Moment.now()
        let isReceiver = isReceivedHere
        var pump = Pump()
        let finding: Finding = waitingSenders.withLock { waiting in
            if isClosed { return .refused(.invalid) }
            waiting.append(sender)
            step(.waitingStores)
            waitingCount.store(waiting.count, ordering: .sequentiallyConsistent)
            pumpLocked(&waiting, &pump)
            if mayWait && !isReceiver { return .inLine }
            defer { waitingCount.store(waiting.count, ordering: .sequentiallyConsistent) }
            if waiting.leave(sender) != nil { return .sent }
            // Check again: if the port has closed since, that is why the chain was not queued, and not a lack of room.
            if isClosed { return .refused(.invalid) }
            return .refused(mayWait ? .wouldDeadlock : .timedOut)
        }
        pump.finish()
        switch finding {
        case .sent: return nil
        case .refused(let refusal): return refusal
        case .inLine: lookForRoomAgain()
        }
        let wait = threadWait(of: sender)
        let wouldDeadlock = wait.begin() != nil
        if !wouldDeadlock { _ = gate.wait(until: deadline) }
        wait.end()
        switch leaveLine({ $0.leave(sender) }) {
        case .sent: return nil
        case .closed: return .invalid
        case .refused: return .wouldDeadlock
        case nil: return wouldDeadlock ? .wouldDeadlock : .timedOut
        }
    }

    /// Serves the line once more, in case the receiver made room before it could see the sender that joined.
    ///
    /// A sender that stays in the line calls this before it sleeps or suspends.
    func lookForRoomAgain() {
        if waitingCount.load(ordering: .relaxed) == 0 { return }
        runloops_heavy_fence()
        serveWaitingSenders()
    }

    /// Takes a sender out of the line, and serves the senders behind it.
    ///
    /// Room that was too small for the batch in front may be enough for them.
    ///
    /// - Parameter leave: Takes the sender out.
    /// - Returns: The result of `leave`.
    private func leaveLine<Result>(_ leave: (inout WaitingSenders) -> Result) -> Result {
        var pump = Pump()
        let result = waitingSenders.withLock { waiting in
            let result = leave(&waiting)
            waitingCount.store(waiting.count, ordering: .sequentiallyConsistent)
            pumpLocked(&waiting, &pump)
            return result
        }
        pump.finish()
        return result
    }

    /// A sender's wait for the receiver, which lasts as long as the sender is in the line.
    private func threadWait(of sender: WaitingSenders.Sender) -> ThreadWait {
        ThreadWait(
            in: "Port.send", fileID: origin.fileID, line: Int(origin.line),
            refuse: { _ in
                let refuses = self.leaveLine { $0.refuse(sender) }
                if refuses { sender.tell(.refused) }
                return refuses
            },
            for: {
                let waits = self.waitingSenders.withLock { $0.contains(sender) }
                return waits ? [self.receiver] : []
            })
    }

    /// Work to finish once `waitingSenders` is unlocked.
    struct Pump {
        /// The signals that its pushes have got, each of which is to be sent: more than one if the port has changed its
        /// receiver between two pushes.
        private(set) var signals = NodeList()
        private(set) var served = WaitingSenders.List()

        mutating func add(_ signal: Node?) { if let signal { signals.append(signal) } }
        mutating func add(_ sender: WaitingSenders.Sender) { served.append(sender) }

        mutating func finish() {
            while let signal = signals.popFirst() { ReadyNode.send(signal) }
            served.tellAll(.sent)
        }
    }

    /// Queues the messages of waiting senders, first come, first served, while there is room.
    func pumpLocked(_ waiting: inout WaitingSenders, _ pump: inout Pump) {
        while let first = waiting.first {
            switch mailbox.pushIfRoom(first.chain) {
            case .queued: break
            case .queuedToArmed(let signal): pump.add(signal)
            case .full:
                if bringRoomUpToDateLocked() { continue }
                return
            case .closed, .raced: return
            }
            pump.add(waiting.firstWasSent())
            waitingCount.store(waiting.count, ordering: .sequentiallyConsistent)
        }
    }

    @inline(never)
    func serveWaitingSenders() {
        var pump = Pump()
        waitingSenders.withLock { pumpLocked(&$0, &pump) }
        pump.finish()
    }
}
