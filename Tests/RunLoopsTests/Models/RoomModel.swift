import TestSupport

/// A finite state machine of a port with a limit, with a receiver, senders that use or await room, and a closing thread.
///
/// Each step reads or writes shared memory once, and has the name of the function that makes it. The steps of senders are in
/// `RoomModel+Senders`, those of the receiver and of the closing thread in `RoomModel+Receiver`, and those of a thread that serves
/// the line in `RoomModel+Pump`. Weak exchanges can fail for no reason. Messages are numbers here; `PortModel` covers the nodes,
/// and the signals that wake the receiver.
///
/// The receiver's plain stores of `handedOut` wait in its buffer until they are drained, which can happen at any moment. A thread
/// that acquires the lock of the line drains its own buffer first; the heavy fence drains the receiver's. All other stores are
/// exchanges, or sequentially consistent, or made under the lock. A sender that loads `roomReturned` without the lock makes a
/// guess.
struct RoomModel {
    /// The time that a sender waits.
    enum Patience: Hashable, Sendable {
        /// Until the message is sent.
        case unlimited
        /// Until a deadline, which can pass at any moment.
        case untilDeadline
        /// No time: the deadline has passed.
        case none
    }

    /// A send of one or more messages.
    struct Send: Hashable, Sendable, CustomStringConvertible {
        var count = 1
        var patience = Patience.unlimited
        /// True if all messages are sent together; false for `send(contentsOf:)`, which sends as many as there is room for.
        var isChain = true
        /// The count that the collection reports, if it differs.
        var declared: Int?
        /// True for a handler that waits for room, and uses none.
        var isHandler = false

        var description: String {
            isHandler ? "handler" : "\(count) \(patience)\(isChain ? "" : " in parts")"
        }
    }

    /// A step that is missing, or made at the wrong time.
    enum Fault: CaseIterable {
        // In `PortCore.waitForRoom` and `PortQueue.lookForRoomAgain`.
        case sleepWithoutFence, noLookAfterFence, joinWithoutStoring, joinWithoutLookingAtEnd
        /// A sender whose deadline has passed leaves the line, and does not serve the senders behind it.
        case leaveWithoutServing
        // In `PortQueue.didHandOut`.
        case lookingBeforeHandingOut
        // In `Mailbox.pushIfRoom`.
        case pushIfAnyRoom, pushWithoutComparing
        // In `PortQueue.bringRoomUpToDate` and `Mailbox.addRoom`.
        case roomMovedOutsideLock, roomNotNoted, roomAddedByStore, lineWithoutNewRoom
        // In `PortQueue.serve`, for a handler.
        case handlerCalledWithoutRoom, handlerNotCalled
        // In `PortCore.close`.
        case lineOutlivesPort
        // In `PortCore.post(contentsOf:)`: the collection's own count is used, or more messages are sent than there is room for.
        case declaredCount, allAtOnce
    }

    let limit: Int
    /// The number of messages in the port at the beginning.
    var queued = 0
    /// The number of messages that the receiver hands out before it stops.
    var handsOut = 8
    let senders: [[Send]]
    var closes = false
    var fault: Fault?

    /// The word of the mailbox.
    struct Word: Hashable {
        var room = 0
        var queued = 0
        var isClosed = false
    }

    struct State: Hashable {
        var word = Word()
        var isClosed = false
        var handedOut = 0
        var waitingCount = 0
        /// The thread that holds the lock of the line: a sender, the receiver, or the closing thread; nil if none does.
        var lockHolder: Int?

        // Guarded by the lock.
        var roomReturned = 0
        var line = SmallQueue()
        /// For each sender that another thread has taken out of the line, 1 if its messages were sent, 2 if the port has ended.
        var outcomes = Octets()

        // For the checks only.
        var accepted = 0
        var destroyed = 0

        var receiver = Receiver()
        var closer: Closer
        var senders: [Sender]
    }

    var receiverIndex: Int { senders.count }
    var closerIndex: Int { senders.count + 1 }

    /// Visits every state that can be reached.
    func explore() -> Exploration<State> {
        var start = State(
            closer: Closer(step: closes ? .closes : .done), senders: senders.map { _ in Sender() })
        start.word = Word(room: limit - queued, queued: queued)
        start.accepted = queued
        start.receiver.handsOut = handsOut
        return Exploration(from: start) { state, walk in
            var isAtRest = true
            for index in senders.indices where stepSender(index, in: state, &walk) { isAtRest = false }
            if stepReceiver(in: state, &walk) { isAtRest = false }
            if stepCloser(in: state, &walk) { isAtRest = false }
            if isAtRest { checkRest(state, &walk) }
        }
    }

    /// The number of messages that use room, as far as it is visible to all threads.
    private func visibleCount(_ state: State) -> Int { state.accepted - state.handedOut }

    /// True if there is no room for the messages, as far as it is visible to all threads.
    func isFull(for count: Int, in state: State) -> Bool { visibleCount(state) + count > limit }

    func checkLimit(_ state: State, _ walk: inout Exploration<State>) {
        let handedOut = state.handedOut + state.receiver.buffered
        if state.accepted - state.destroyed - handedOut > limit { walk.fail("a full port accepts messages") }
    }

    /// Checks a state in which no thread can take a step.
    private func checkRest(_ state: State, _ walk: inout Exploration<State>) {
        if state.lockHolder != nil { walk.fail("a thread keeps the lock") }
        if state.waitingCount != state.line.count { walk.fail("the count of waiting senders is wrong") }
        if state.isClosed {
            if !state.line.isEmpty { walk.fail("a sender sleeps at a closed port") }
            return
        }
        if let first = state.line.first {
            let count = state.senders[first].count
            if !isFull(for: count, in: state) { walk.fail("a sender sleeps beside room") }
            if count > limit { walk.fail("a sender waits for more room than there will ever be") }
        }
        for (index, sender) in state.senders.enumerated() {
            let mayRest = sender.step == .done || sender.step == .asleep && state.line.contains(index)
            if !mayRest { walk.fail("a sender waits for ever") }
        }
        let pending = state.word.queued + state.receiver.backlog
        if state.word.room + pending + state.handedOut - state.roomReturned != limit {
            walk.fail("room is lost, or made of nothing")
        }
    }
}
