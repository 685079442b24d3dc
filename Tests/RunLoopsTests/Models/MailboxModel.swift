import TestSupport

/// Two threads that send to a loop, and the loop's own, as a machine whose every state can be visited.
///
/// Each step of it is one atomic operation of the library or one system call, under the name of the function that makes it:
/// those of senders are in `MailboxModel+Senders`, those of the loop in `MailboxModel+Loop` and `MailboxModel+Mail`. Weak
/// exchanges may fail for no reason, and a sleep may end for no reason, as it does for timers and descriptors.
///
/// All that threads share is changed by one atomic operation at a time, each of which comes before or after every other one of
/// the same word, and no thread decides from the order of plain loads of two words. So steps in one order for all threads are
/// all that there is.
struct MailboxModel {
    /// An operation of a sender; it takes them one after the other.
    enum Operation: Hashable {
        /// `RunLoop.perform`: a node of its own.
        case send
        /// `RunLoop.stop`, `RunLoop.wakeUp`, `RunLoopThread.stop`.
        case stop, wakeUp, end
        /// `Port<Void>.send`, after something was done that the handler is to see.
        case ring
        /// A notice in the port's queue, and `Doorbell.nudge`.
        case nudge
    }

    /// A step that is left out, or done in the wrong order.
    enum Fault: CaseIterable {
        // In `Mailbox`, `LoopHandle` and the wait.
        case armByStore, dropTheWrite, takeAfterCheck, pushOntoClosed, newestFirst
        /// The loop polls the kernel once more after it has armed, and goes to sleep in any case.
        case pollAfterArming
        /// The loop forgets that it was woken, and does not look at the mailbox.
        case sleepAgain
        // In the requests.
        case requestsTakenBeforeNode, requestMarkedAfterNode, requestAlwaysSent
        // In the life of the descriptor.
        case closeBeforeWrite, signalWithoutInbox
        // In the bell.
        case bellArmedAfterHandler, bellJoinedByStore, bellLookedAtTwice, leavingWithoutAsking
    }

    /// The operations of each sender.
    let scripts: [[Operation]]
    /// True if a stop ends the thread, false if it runs again.
    var endsAtStop = false
    var fault: Fault?

    /// The word of a mailbox.
    enum Word: Hashable {
        case empty, armed, closed
        case newest(Node)

        var node: Node? { if case .newest(let node) = self { node } else { nil } }
    }

    /// The word of a bell; armed always with the one signal's node.
    enum Bell: Hashable { case quiet, nudged, rung, armed }

    /// A node's number: the loop's own, the signal's, then the messages of one sender after the other.
    typealias Node = UInt8
    static let requestNode: Node = 0
    static let signalNode: Node = 1

    struct State: Hashable {
        // Shared.
        var word = Word.empty
        /// The node that each node is linked to: four bits for each, 0 for none.
        var links: UInt64 = 0
        var requests = Requests()
        var bell = Bell.quiet
        /// The eventfd is in the kernel's list of what is ready.
        var isEdgeThere = false
        var isOpen = true
        /// The references of the loop's thread, of the senders that hold the loop, of the signal, and of the
        /// thread that is about to send its node.
        var inboxReferences: Int8 = 1
        /// The references of the port's place in the loop, and of the thread that may send the node.
        var signalReferences: Int8 = 0

        // The actions of senders that the loop has not yet answered.
        var unanswered = Requests()
        var ringsUnseen = false
        var noticesUnseen = false
        /// The nodes of requests and signals that were handed out and not yet taken out of the mailbox.
        var isRequestNodeOut = false
        var isSignalNodeOut = false

        var senders: [Sender]
        var loop = Loop()

        subscript(link node: Node) -> Node? {
            get {
                let bits = links >> (UInt64(node) * 4) & 15
                return bits == 0 ? nil : Node(bits - 1)
            }
            set {
                links &= ~(15 << (UInt64(node) * 4))
                if let newValue { links |= UInt64(newValue + 1) << (UInt64(node) * 4) }
            }
        }
    }

    struct Requests: OptionSet, Hashable {
        let rawValue: UInt8
        static let stop = Requests(rawValue: 1)
        static let wakeUp = Requests(rawValue: 2)
        static let end = Requests(rawValue: 4)
    }

    private var hasPort: Bool { scripts.joined().contains { $0 == .ring || $0 == .nudge } }

    /// Visits every state that can be reached.
    func explore() -> Exploration<State> {
        var start = State(senders: scripts.map { _ in Sender() })
        for script in scripts where holdsLoop(script) { start.inboxReferences += 1 }
        if hasPort {
            start.signalReferences = 1
            start.inboxReferences += 1
            start.loop.step = .joinLooks
        }
        return Exploration(from: start) { state, walk in
            var isAtRest = true
            for sender in scripts.indices where state.senders[sender].step != .done {
                isAtRest = false
                stepSender(sender, in: state, &walk)
            }
            if stepLoop(in: state, &walk) { isAtRest = false }
            checkSleep(state, &walk)
            if isAtRest { checkRest(state, &walk) }
        }
    }

    /// A sender that only has the port does not keep the loop.
    func holdsLoop(_ script: [Operation]) -> Bool { script.contains { $0 != .ring && $0 != .nudge } }

    /// A reference to the handle goes, and with the last one its descriptor.
    func releaseInbox(_ state: inout State) {
        state.inboxReferences -= 1
        if state.inboxReferences == 0 { state.isOpen = false }
    }

    func releaseSignal(_ state: inout State, _ walk: inout Exploration<State>) {
        state.signalReferences -= 1
        if state.signalReferences < 0 { walk.fail("a signal was released twice") }
        if state.signalReferences == 0 { releaseInbox(&state) }
    }

    /// The loop is in the kernel, and no event there ends its sleep.
    ///
    /// Then a sender that has pushed is about to write.
    private func checkSleep(_ state: State, _ walk: inout Exploration<State>) {
        guard state.loop.step == .sleeps, !state.isEdgeThere, state.word.node != nil else { return }
        if state.senders.contains(where: { $0.step == .writes }) { return }
        walk.fail("the loop sleeps, and there is a message")
    }

    /// The senders are done, and the loop sleeps or has ended.
    private func checkRest(_ state: State, _ walk: inout Exploration<State>) {
        for sender in state.senders {
            if sender.delivered != sender.accepted { walk.fail("a message was lost") }
        }
        if state.loop.step == .done {
            if state.inboxReferences != 0 || state.signalReferences != 0 { walk.fail("a reference is left") }
            return
        }
        if !state.unanswered.isEmpty { walk.fail("a request was lost") }
        if state.ringsUnseen || state.noticesUnseen { walk.fail("a ring was lost") }
    }
}
