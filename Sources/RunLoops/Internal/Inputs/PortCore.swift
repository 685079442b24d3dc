internal import Synchronization

/// What a port is, whatever its messages are.
///
/// Senders push onto ``mailbox``; the receiver takes all at once into ``backlog`` and hands them out one by one.
/// A port that is in a loop and empty arms its mailbox with its ``Signal``: the next sender gets that, and
/// sends it to the loop.
@usableFromInline
final class PortCore: Sendable {
    /// Where senders push, and beside it what else every sender reads and writes.
    let mailbox = Mailbox()

    /// The count of messages at which the port is full, as far as senders know: what was handed out when
    /// somebody last looked, plus the limit.
    ///
    /// Kept so that senders need not read what the receiver writes each time.
    private let window: Atomic<UInt64>

    /// Keeps what senders write off the cache lines of what all sides read for each message: two lines, because processors
    /// fetch them in pairs.
    private let paddingOfSenders = InlineArray<16, UInt64>(repeating: 0)

    /// How many senders wait.
    ///
    /// Written under the lock of `waitingSenders`.
    let waitingCount = Atomic<Int>(0)

    /// 0 for none.
    let limit: UInt64

    /// For a port without messages: its signals merge here, and the mailbox stays empty.
    let bell = Doorbell()
    let merges: Bool

    /// Keeps what the receiver writes off the cache lines that all read.
    private let paddingOfReceiver = InlineArray<16, UInt64>(repeating: 0)

    /// How many messages were handed out.
    ///
    /// Written by the receiver only.
    private let handedOut = Atomic<UInt64>(0)
    private let closedFlag = Atomic<Bool>(false)
    let waitingSenders = Guarded(WaitingSenders())
    /// How many answers came after their requester had given up.
    let lateReplies = Atomic<Int>(0)
    let rightsRecord = Guarded(RightsRecord())

    /// Which loop receives; whoever has it may touch the two below.
    let claim = Claim()

    /// Taken in and not yet handed out, oldest first.
    ///
    /// `nonisolated(unsafe)`, these two: guarded by `claim`.
    nonisolated(unsafe) private let backlog = Confined(NodeList())
    nonisolated(unsafe) var input: PortInput?

    let origin: SourceLocation
    /// Destroys a message.
    private let destroyMessage: @Sendable (Node.Slot) -> Void
    /// Puts a message into an empty node.
    private let moveMessage: @Sendable (Node.Slot, Node) -> Void

    init(
        limit: Int?, merges: Bool, origin: SourceLocation,
        destroy: @escaping @Sendable (Node.Slot) -> Void,
        move: @escaping @Sendable (Node.Slot, Node) -> Void
    ) {
        self.limit = UInt64(limit ?? 0)
        window = Atomic(UInt64(limit ?? 0))
        self.merges = merges
        self.origin = origin
        destroyMessage = destroy
        moveMessage = move
    }

    var isClosed: Bool { closedFlag.load(ordering: .acquiring) }

    // MARK: - Sending

    /// Why a message was not sent.
    @usableFromInline
    enum Refusal: Sendable {
        case timedOut
        case invalid
        case wouldDeadlock
    }

    /// A node for the calling thread to fill and send.
    @usableFromInline
    static func makeNode() -> Node { SlabCache.takeNode() }

    /// Gives back a node that was emptied again.
    @usableFromInline
    static func discard(_ node: Node) {
        var releaser = NodeReleaser()
        releaser.release(node)
    }

    /// Queues one message, waiting for room if there is none.
    ///
    /// - Returns: Nil, or why not: then the node is the caller's still.
    @usableFromInline
    func send(_ node: Node) -> Refusal? {
        // Apart from the one with a deadline, because an instant costs more to pass on than the rest takes.
        send(Mailbox.Chain(node)) { .never }
    }

    @usableFromInline
    func send(_ node: Node, before deadline: ContinuousClock.Instant) -> Refusal? {
        send(Mailbox.Chain(node)) { Moment(deadline) }
    }

    /// Queues several messages at once, linked newest to oldest, all or none.
    @usableFromInline
    func send(_ newest: Node?, _ count: Int, before deadline: ContinuousClock.Instant?) -> Refusal? {
        guard let newest else { return nil }
        return send(Mailbox.Chain(newest: newest, count: count)) { deadline.map(Moment.init) ?? .never }
    }

    @inline(__always)
    private func send(_ chain: Mailbox.Chain, before deadline: () -> Moment) -> Refusal? {
        Fork.check("Port.send")
        // Whoever waits was here first.
        if limit == 0 || waitingCount.load(ordering: .relaxed) == 0 {
            switch tryPush(chain) {
            case .queued: return nil
            case .queuedToArmed(let signal):
                if let signal { Signal.send(signal) }
                return nil
            case .closed: return .invalid
            case .raced: break
            }
        }
        return waitForRoom(chain, deadline())
    }

    /// Rings the bell of a port without messages.
    @usableFromInline
    func ring() -> Refusal? {
        Fork.check("Port.send")
        step(.closedLooks)
        if isClosed { return .invalid }
        if let signal = bell.ring() { Signal.send(signal) }
        return nil
    }

    /// How many of `wanted` messages to send at once: what fits now, and one where nothing does.
    @usableFromInline
    func room(for wanted: Int) -> Int {
        if limit == 0 { return wanted }
        if waitingCount.load(ordering: .relaxed) > 0 { return 1 }
        let sequence = mailbox.acquireCurrent().sequence
        let left = (handedOut.load(ordering: .acquiring) &+ limit &- sequence) & Mailbox.Word.sequenceMask
        // Between the two readings others may have sent and the receiver handed out; and a batch of more than the
        // limit would wait for ever.
        return max(1, min(wanted, Int(min(left, limit))))
    }

    /// Pushes if there is room; `.raced` means that there is none.
    func tryPush(_ chain: Mailbox.Chain) -> Mailbox.Push {
        while true {
            step(.pushLooks)
            let seen = mailbox.acquireCurrent()
            // The window is read after the word: so it is not less than the word's count, and the 20 bits of
            // the count tell how far apart they are. If the word changes meanwhile, the push fails.
            if limit > 0 && !seen.isClosed {
                step(.windowLooks)
                let known = window.load(ordering: .acquiring)
                if (known &- seen.sequence) & Mailbox.Word.sequenceMask < UInt64(chain.count) {
                    let actual = handedOut.load(ordering: .sequentiallyConsistent) + limit
                    if actual == known { return .raced }
                    step(.windowMoves)
                    _ = window.compareExchange(
                        expected: known, desired: actual, ordering: .acquiringAndReleasing)
                    continue
                }
            }
            let push = mailbox.tryPush(chain, onto: seen)
            if case .raced = push { continue }
            return push
        }
    }

    /// What a sender finds at a full port.
    private enum Finding {
        case sent
        case refused(Refusal)
        case inLine
    }

    /// Whether the port is in the calling thread's loop, or in a set that this thread serves.
    var isReceivedHere: Bool {
        if let loop = RunLoop.existing, claim.isHeld(by: loop.inbox) { return true }
        return SetService.here.contains(claim.holderID)
    }

    @inline(never)
    private func waitForRoom(_ chain: Mailbox.Chain, _ deadline: Moment) -> Refusal? {
        let gate = ThreadGate()
        let sender = WaitingSenders.Sender(chain) { _ in gate.open() }
        let mayWait = deadline == .never || deadline > Moment.now()
        let isReceiver = isReceivedHere
        var pump = Pump()
        let finding: Finding = waitingSenders.withLock { waiting in
            if isClosed { return .refused(.invalid) }
            waiting.append(sender)
            step(.waitingStores)
            // In this order with the look at what was handed out, against the receiver's opposite order: one of
            // the two sees the other.
            waitingCount.store(waiting.count, ordering: .sequentiallyConsistent)
            pumpLocked(&waiting, &pump)
            if mayWait && !isReceiver { return .inLine }
            defer { waitingCount.store(waiting.count, ordering: .sequentiallyConsistent) }
            if waiting.leave(sender) != nil { return .sent }
            return .refused(mayWait ? .wouldDeadlock : .timedOut)
        }
        pump.finish()
        switch finding {
        case .sent: return nil
        case .refused(let refusal): return refusal
        case .inLine: break
        }
        let wait = threadWait(of: sender)
        let wouldDeadlock = wait.begin() != nil
        if !wouldDeadlock { _ = gate.wait(until: deadline) }
        wait.end()
        return waitingSenders.withLock { waiting in
            let outcome = waiting.leave(sender)
            waitingCount.store(waiting.count, ordering: .sequentiallyConsistent)
            switch outcome {
            case .sent: return nil
            case .closed: return .invalid
            case .refused: return .wouldDeadlock
            case nil: return wouldDeadlock ? .wouldDeadlock : .timedOut
            }
        }
    }

    /// The wait of a sender in the line: for the loop that has the port, as long as it is in the line.
    private func threadWait(of sender: WaitingSenders.Sender) -> ThreadWait {
        ThreadWait(
            in: "Port.send", fileID: origin.fileID, line: Int(origin.line),
            refuse: { _ in
                let refuses = self.waitingSenders.withLock { waiting in
                    defer { self.waitingCount.store(waiting.count, ordering: .sequentiallyConsistent) }
                    return waiting.refuse(sender)
                }
                if refuses { sender.tell(.refused) }
                return refuses
            },
            for: {
                let waits = self.waitingSenders.withLock { $0.contains(sender) }
                return waits ? [.loop(self.claim.holderID)] : []
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
    private func serveWaitingSenders() {
        var pump = Pump()
        waitingSenders.withLock { pumpLocked(&$0, &pump) }
        pump.finish()
    }

    // MARK: - Receiving, by whoever has the claim

    /// How many nodes are at hand.
    func takeMail() -> Int {
        unsafe backlog.value.append(mailbox.take())
        return unsafe backlog.value.count
    }

    /// The node with the oldest message, or notice.
    var next: Node? { isClosed ? nil : unsafe backlog.value.first }

    /// Takes the oldest message, or notice, out of the node that is next.
    ///
    /// A message's room is free from now on.
    @inline(__always)
    func take(from node: Node) -> Node.Taken {
        let taken = node.takeSlot()
        if taken.isLast { unsafe backlog.value.removeFirst() }
        if limit > 0 && taken.counts {
            step(.handsOut)
            handedOut.store(handedOut.load(ordering: .relaxed) &+ 1, ordering: .releasing)
            step(.waitingLooks)
            if waitingCount.load(ordering: .relaxed) > 0 { serveWaitingSenders() }
        }
        return taken
    }

    /// The oldest message, or notice, in a node of its own: for whoever lets others take the next one meanwhile.
    func takeAlone() -> Node? {
        guard let next else { return nil }
        let taken = take(from: next)
        if taken.isLast && taken.slot.index == 0 { return next }
        let node = PortCore.makeNode()
        moveMessage(taken.slot, node)
        if taken.isLast { PortCore.discard(next) }
        return node
    }

    /// Arms the mailbox, if nothing is at hand and nothing has come.
    ///
    /// - Returns: False if there is something, or the port was closed.
    func arm(with signal: Signal) -> Bool {
        if unsafe !backlog.value.isEmpty { return false }
        // A sender that came to wait while the last messages were handed out may have missed that there is room.
        if limit > 0 {
            step(.handsOut)
            handedOut.store(handedOut.load(ordering: .relaxed), ordering: .sequentiallyConsistent)
            step(.waitingLooks)
            if waitingCount.load(ordering: .sequentiallyConsistent) > 0 { serveWaitingSenders() }
        }
        if mailbox.arm(with: signal.retainedNode()) { return true }
        _ = Signal.takeRetained(signal.node)
        return false
    }

    // MARK: - End

    /// Destroys what is queued and refuses everything from now on.
    ///
    /// Any thread; again is harmless.
    func close() {
        step(.portCloses)
        if closedFlag.exchange(true, ordering: .sequentiallyConsistent) { return }
        let (nodes, signal) = mailbox.close()
        destroyAll(nodes)
        let released = waitingSenders.withLock { waiting in
            waitingCount.store(0, ordering: .sequentiallyConsistent)
            return waiting.closeAll()
        }
        for sender in released { sender.tell(.closed) }

        if let loop = RunLoop.existing, claim.isHeld(by: loop.inbox) {
            // The receiver's own thread: gone at once.
            if let signal { _ = Signal.takeRetained(signal) }
            if let input = unsafe input { input.membership.loop?.removeFromLoop(input) }
        } else if let signal = signal ?? bell.ring() {
            // The loop sleeps on it, or would: it finds the port closed and lets go of it.
            Signal.send(signal)
        }
        // If a loop or a set has the port and is busy with it, it finds it closed by itself.
        destroyWhatIsLeft()
        endRights()
    }

    deinit {
        destroyAll(mailbox.close().nodes)
        destroyBacklog()
    }

    /// Destroys what was taken in, if the port has ended and nobody has it.
    ///
    /// Called by whoever ends the port, and by whoever has just given it up: of two who do so at the same moment, the later
    /// one sees the other.
    func destroyWhatIsLeft() {
        // Anew: several threads come here for the same port.
        guard closedFlag.load(ordering: .sequentiallyConsistent), claim.takeAnew(for: self) else { return }
        destroyBacklog()
        claim.giveUp()
    }

    /// Destroys what was taken in of a closed port.
    ///
    /// By whoever has the claim.
    func destroyBacklog() { destroyAll(unsafe backlog.value.removeAll()) }

    private func destroyAll(_ list: NodeList) {
        var nodes = list
        var releaser = NodeReleaser()
        while let node = nodes.popFirst() {
            guard node.counts else {
                destroyLone(node)
                continue
            }
            destroyMessages(of: node)
            releaser.release(node)
        }
    }

    /// Destroys all that is left in a node.
    func destroyMessages(of node: Node) {
        var isLast = false
        while !isLast {
            let taken = node.takeSlot()
            isLast = taken.isLast
            destroyMessage(taken.slot)
        }
    }
}
