internal import CThreads
internal import Synchronization

// Senders that wait for room, and who gives it to them.
//
// The receiver hands a message out, and then looks whether somebody waits. A sender comes into the line, and then looks what
// was handed out. If each does its two steps in this order, one of the two sees the other, and nobody sleeps beside room. The
// receiver does them for every message, and so the sender, who is about to sleep, pays for the order on both sides.

extension PortCore {
    /// What a sender finds at a full port.
    private enum Finding {
        case sent
        case refused(Refusal)
        case inLine
    }

    /// Whether the port is in the calling thread's loop, or in a set that this thread serves.
    var isReceivedHere: Bool {
        if let loop = RunLoop.existing, claim.isHeld(by: loop.inbox) { return true }
        return SetService.isHere(claim.holderID)
    }

    /// What whoever waits for the receiver waits for, at this moment.
    var receiver: Holding { SetService.holding(of: claim.holderID) }

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
            // Again: nothing more is queued for a port that ends meanwhile, which is no lack of room.
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
        let (outcome, rest) = leaveLine { $0.leave(sender) }
        rest.finish()
        switch outcome {
        case .sent: return nil
        case .closed: return .invalid
        case .refused: return .wouldDeadlock
        case nil: return wouldDeadlock ? .wouldDeadlock : .timedOut
        }
    }

    /// Gives those in the line the room that the receiver has made without having seen them.
    ///
    /// By who has come into the line, before it is left to itself.
    func lookForRoomAgain() {
        if waitingCount.load(ordering: .relaxed) == 0 { return }
        runloops_heavy_fence()
        serveWaitingSenders()
    }

    /// Has a sender leave the line, and serves those behind it: what was too little room for a batch may do for them.
    ///
    /// - Parameter leave: Takes the sender out.
    /// - Returns: What `leave` returns, and what is to be done then.
    private func leaveLine<Result>(_ leave: (inout WaitingSenders) -> Result) -> (Result, Pump) {
        var pump = Pump()
        let result = waitingSenders.withLock { waiting in
            let result = leave(&waiting)
            waitingCount.store(waiting.count, ordering: .sequentiallyConsistent)
            pumpLocked(&waiting, &pump)
            return result
        }
        return (result, pump)
    }

    /// The wait of a sender in the line: for the loop or the set that has the port, as long as it is in the line.
    private func threadWait(of sender: WaitingSenders.Sender) -> ThreadWait {
        ThreadWait(
            in: "Port.send", fileID: origin.fileID, line: Int(origin.line),
            refuse: { _ in
                let (refuses, rest) = self.leaveLine { $0.refuse(sender) }
                if refuses { sender.tell(.refused) }
                rest.finish()
                return refuses
            },
            for: {
                let waits = self.waitingSenders.withLock { $0.contains(sender) }
                return waits ? [self.receiver] : []
            })
    }

    /// What is to be done after the lock of the waiting senders is free.
    struct Pump {
        var signal: Node?
        var served: [WaitingSenders.Sender] = []

        func finish() {
            if let signal { Signal.send(signal) }
            for sender in served { sender.tell(.sent) }
        }
    }

    /// Queues the messages of those who wait, in turn, as far as there is room.
    func pumpLocked(_ waiting: inout WaitingSenders, _ pump: inout Pump) {
        while let first = waiting.first {
            switch tryPush(first.chain) {
            case .queued: break
            case .queuedToArmed(let signal): pump.signal = signal
            case .raced, .closed: return
            }
            pump.served.append(waiting.firstWasSent())
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
