internal import CRunLoops
internal import Synchronization

// The count of a port's room, and the senders that wait for room in a port with a limit. They wait in the wait queue, which the
// code calls the line.
//
// The mailbox's word carries the room that is left. A push takes room from the word in the same exchange that queues the message.
// The receiver only counts the messages that it hands out, in `handedOut`. A sender that finds too little room in the word brings
// the word up to date: under the lock of the wait queue, it stores `roomReturned` and adds to the word the room of the messages
// that were handed out since the last time. Under that lock, the following equation is true:
//
//     room in the word + messages queued or in the backlog + handedOut - roomReturned = limit
//
// So a sender is refused only if the port is full at that moment, or other senders wait in front. Without the lock, the word's room
// can be too low but never too high, so a full port never accepts a message.
//
// No sender sleeps while there is room. The receiver stores `handedOut`, then loads `waitingCount`. A sender stores `waitingCount`,
// then loads `handedOut`. If neither side's store and load are reordered, at least one side sees the other's store.
//
// The receiver takes its two steps for every message, but a sender takes its two steps only before it sleeps. So the fences are
// unequal: the receiver has a light fence, and the sender has a heavy fence that orders the steps of both threads.

/// The queue of a port: the mailbox that senders push onto, its room, and the senders that wait for room.
///
/// > Thread safety: only the receiver's thread may call ``didHandOut()`` and the mailbox's operations for the receiver; any thread
/// > may call all other members.
struct PortQueue: ~Copyable, Sendable {
    /// The mailbox that senders push onto.
    ///
    /// One atomic value of the mailbox contains its room: the number of messages that the port can still accept. A receiver that
    /// hands out a message does not add to this number, so the number can be too low. A sender that finds too little room brings
    /// the number up to date. So a sender need not read the receiver's counter for each message.
    let mailbox: Mailbox

    /// The value of `handedOut` at the last update of the mailbox's room.
    ///
    /// It is written under the lock of `waitingSenders`.
    private let roomReturned = Atomic<UInt64>(0)

    /// Padding, so that the words that senders write share no cache line with the words that all threads read for each message.
    ///
    /// The padding fills two lines, because processors fetch lines in pairs.
    private let paddingOfSenders = InlineArray<16, UInt64>(repeating: 0)

    /// The number of senders in the wait queue.
    ///
    /// It is written under the lock of `waitingSenders`.
    let waitingCount = Atomic<Int>(0)

    /// The maximum number of messages that are queued or in the backlog; 0 for no limit.
    let limit: UInt64

    /// Padding, so that the words that the receiver writes share no cache line with the words that all threads read.
    private let paddingOfReceiver = InlineArray<16, UInt64>(repeating: 0)

    /// The number of messages that the receiver has handed out.
    ///
    /// Only the receiver writes this.
    private let handedOut = Atomic<UInt64>(0)

    /// The wait queue.
    let waitingSenders = Guarded(WaitingSenders())

    init(limit: UInt64) {
        self.limit = limit
        mailbox = Mailbox(room: limit)
    }

    // MARK: - Room

    /// True if a sender can try to push at once, because no other sender is in the wait queue or the port has no limit.
    ///
    /// Senders in the wait queue have precedence.
    @inline(__always)
    var hasNoLine: Bool { limit == 0 || waitingCount.load(ordering: .relaxed) == 0 }

    /// Queues messages if there is room for all of them.
    ///
    /// Without a limit there is always room.
    @inline(__always)
    func push(_ chain: Mailbox.Chain) -> Mailbox.Push {
        if limit == 0 { return mailbox.push(chain) }
        while true {
            let push = mailbox.pushIfRoom(chain)
            guard case .full = push, bringRoomUpToDate() else { return push }
        }
    }

    /// Returns the number of messages to send in one batch, at least one.
    ///
    /// If the port has no limit, the result is `Int.max`. If other senders wait for room, the result is 1. Otherwise the result is
    /// the number of messages for which there is room now.
    func roomAtOnce() -> Int {
        if limit == 0 { return .max }
        if waitingCount.load(ordering: .relaxed) > 0 { return 1 }
        var room = mailbox.current.room
        if room == 0 && bringRoomUpToDate() { room = mailbox.current.room }
        return max(1, Int(room))
    }

    /// The number of messages that are queued or in the backlog.
    ///
    /// If the port has no limit, this is the remainder of that number modulo 2²⁰.
    var messageCount: Int {
        let word = mailbox.current
        let handedOut = handedOut.load(ordering: .relaxed)
        if limit == 0 { return Int((word.sequence &- handedOut) & Mailbox.Word.roomMask) }
        // Other threads change these values between the loads, so the result can be out of range.
        let returned = roomReturned.load(ordering: .relaxed)
        let count = Int64(limit) - Int64(word.room) - Int64(bitPattern: handedOut &- returned)
        return Int(min(max(count, 0), Int64(limit)))
    }

    /// Brings the mailbox's room up to date.
    ///
    /// Each message that the receiver has handed out since the last update adds room for one message.
    ///
    /// - Returns: False if no message was handed out since the last update.
    @inline(never)
    private func bringRoomUpToDate() -> Bool {
        // Without the lock this comparison can be wrong. In that case the sender joins the wait queue and checks again under the
        // lock.
        racePoint(.roomLooks)
        if handedOut.load(ordering: .acquiring) == roomReturned.load(ordering: .relaxed) { return false }
        waitingSenders.withLock { _ in _ = bringRoomUpToDateLocked() }
        return true
    }

    private func bringRoomUpToDateLocked() -> Bool {
        racePoint(.roomLooks)
        let count = handedOut.load(ordering: .sequentiallyConsistent)
        let before = roomReturned.load(ordering: .relaxed)
        if count == before { return false }
        roomReturned.store(count, ordering: .relaxed)
        mailbox.addRoom(count &- before)
        return true
    }

    /// Counts a message that the receiver has handed out, then queues messages of waiting senders while there is room.
    @inline(__always)
    func didHandOut() { if countHandedOutForSenders() { serveLine() } }

    /// Counts a message that the receiver has handed out, then queues messages of waiting senders while there is room.
    ///
    /// - Parameter pump: Receives the signals and the senders. The caller holds a lock, and calls ``Pump/finish()`` when it has
    ///   released the lock: a task of a sender can run at once, in that call, and use the object that the lock guards.
    func didHandOut(_ pump: inout Pump) {
        if countHandedOutForSenders() { waitingSenders.withLock { serve(&$0, &pump) } }
    }

    /// Counts a message that the receiver has handed out.
    ///
    /// - Returns: True if senders wait for room.
    @inline(__always)
    private func countHandedOutForSenders() -> Bool {
        racePoint(.handsOut)
        handedOut.store(handedOut.load(ordering: .relaxed) &+ 1, ordering: .releasing)
        // The store must come before the load. A sender stores `waitingCount` and then loads `handedOut`, and the heavy fence
        // between these two steps orders the steps of this thread as well. If the load came first here, the sender could sleep
        // while there is room.
        runloops_light_fence()
        racePoint(.waitingLooks)
        return waitingCount.load(ordering: .relaxed) > 0
    }

    /// Counts a message that the receiver of a port without a limit hands out.
    @inline(__always)
    func countHandedOut() {
        handedOut.store(handedOut.load(ordering: .relaxed) &+ 1, ordering: .relaxed)
    }

    // MARK: - The wait queue

    /// Changes the wait queue under its lock.
    ///
    /// After the lock is released, the method signals the receiver, and notifies the senders whose messages the change has queued.
    func changeLine<Result>(_ change: (inout WaitingSenders, inout Pump) -> Result) -> Result {
        var pump = Pump()
        let result = waitingSenders.withLock { change(&$0, &pump) }
        pump.finish()
        return result
    }

    /// Puts a sender at the end of the wait queue, then queues the messages of waiting senders while there is room.
    func append(_ sender: WaitingSenders.Sender, to line: inout WaitingSenders, _ pump: inout Pump) {
        line.append(sender)
        racePoint(.waitingStores)
        storeCount(of: line)
        serve(&line, &pump)
    }

    /// Removes a sender from the wait queue, and serves the senders behind that sender.
    ///
    /// If the port has too little room for the batch of the removed sender, the room can still be enough for the next sender.
    ///
    /// - Parameter leave: Removes the sender.
    /// - Returns: The result of `leave`.
    func leaveLine<Result>(_ leave: (inout WaitingSenders) -> Result) -> Result {
        changeLine { line, pump in
            let result = leave(&line)
            storeCount(of: line)
            serve(&line, &pump)
            return result
        }
    }

    /// Stores the number of waiting senders, for the receiver and for senders that do not take the lock.
    func storeCount(of line: borrowing WaitingSenders) {
        waitingCount.store(line.count, ordering: .sequentiallyConsistent)
    }

    /// Serves the wait queue once more, before one of its senders sleeps or suspends.
    ///
    /// It is possible that the receiver made room before it could see that the sender had joined the wait queue. In that case, the
    /// receiver has not served the sender.
    func lookForRoomAgain() {
        if waitingCount.load(ordering: .relaxed) == 0 { return }
        runloops_heavy_fence()
        serveLine()
    }

    /// Removes all senders from the wait queue, because the port has ended.
    ///
    /// - Returns: The senders, for the caller to wake.
    func closeLine() -> WaitingSenders.List {
        waitingSenders.withLock { line in
            waitingCount.store(0, ordering: .sequentiallyConsistent)
            return line.closeAll()
        }
    }

    @inline(never)
    private func serveLine() { changeLine { serve(&$0, &$1) } }

    /// Queues the messages of waiting senders, first come, first served, while there is room.
    ///
    /// A handler that waits for room is removed when its turn comes and there is room for a message.
    func serve(_ line: inout WaitingSenders, _ pump: inout Pump) {
        while let first = line.first {
            guard let chain = first.chain else {
                if mailbox.current.room > 0 {
                    takeOutFirst(&line, &pump)
                } else if !bringRoomUpToDateLocked() {
                    return
                }
                continue
            }
            switch mailbox.pushIfRoom(chain) {
            case .queued: break
            case .queuedToArmed(let signal): pump.add(signal)
            case .full:
                if bringRoomUpToDateLocked() { continue }
                return
            case .closed, .raced: return
            }
            takeOutFirst(&line, &pump)
        }
    }

    private func takeOutFirst(_ line: inout WaitingSenders, _ pump: inout Pump) {
        pump.add(line.firstWasSent())
        storeCount(of: line)
    }
}

extension PortQueue {
    /// The work to finish after the lock of the wait queue was released.
    struct Pump {
        /// The signals that are still to be sent; `pushIfRoom` has returned them.
        ///
        /// There is more than one signal if the port has changed its receiver between two pushes.
        private(set) var signals = NodeList()
        /// The senders to notify.
        ///
        /// A thread or a task is notified after its messages were queued. A handler is notified when there is room.
        private(set) var served = WaitingSenders.List()

        mutating func add(_ signal: Node?) { if let signal { signals.append(signal) } }
        mutating func add(_ sender: WaitingSenders.Sender) { served.append(sender) }

        mutating func finish() {
            while let signal = signals.popFirst() { ReadyNode.send(signal) }
            served.notifyAll(.sent)
        }
    }
}
