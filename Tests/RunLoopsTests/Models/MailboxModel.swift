import TestSupport

/// A finite state machine of a loop's thread and two threads that send to the loop.
///
/// Each step is one atomic operation of the library, or one system call, and has the name of the function that makes it. The steps
/// of senders are in `MailboxModel+Senders`, those of the loop in `MailboxModel+Loop` and `MailboxModel+Mail`. Weak exchanges can
/// fail for no reason, and a sleep can end for no reason, as if a timer or a descriptor had ended it.
///
/// Shared state is changed by one atomic operation at a time. The operations on one word have a total order, and no thread decides
/// by the order of plain loads of two words. So it suffices to explore the interleavings of steps.
struct MailboxModel {
    /// An operation of a sender, which makes one after another.
    enum Operation: Hashable {
        /// `RunLoop.perform`, with a node of its own.
        case send
        /// `RunLoop.stop`, `RunLoop.wakeUp`, `RunLoopThread.stop`.
        case stop, wakeUp, end
        /// `Port<Void>.send`, after a store that the handler must see.
        case ring
        /// A notice in the port's queue, followed by `Doorbell.nudge`.
        case nudge
    }

    /// A step that is missing, or made in the wrong order.
    enum Fault: CaseIterable {
        // In `Mailbox`, in `LoopHandle`, and in the wait.
        case armByStore, dropTheWrite, takeAfterCheck, pushOntoClosed, newestFirst
        /// The loop polls the kernel after it has armed its mailbox, and then sleeps in any case.
        case pollAfterArming
        /// The loop ignores that it was woken, and does not check the mailbox.
        case sleepAgain
        // In the handling of requests.
        case requestsTakenBeforeNode, requestMarkedAfterNode, requestAlwaysSent
        // In the lifetime of the descriptor.
        case closeBeforeWrite, signalWithoutInbox
        // In the handling of the bell.
        case bellArmedAfterHandler, bellJoinedByStore, bellLookedAtTwice, leavingWithoutAsking
    }

    /// The operations of each sender.
    let scripts: [[Operation]]
    /// True if a stop ends the thread, false if the loop runs again after it.
    var endsAtStop = false
    var fault: Fault?

    /// The word of a mailbox.
    enum Word: Hashable {
        case empty, armed, closed
        case newest(Node)

        var node: Node? { if case .newest(let node) = self { node } else { nil } }
    }

    /// The word of a bell, which is always armed with the node of the one signal.
    enum Bell: Hashable { case quiet, nudged, rung, armed }

    /// The number of a node: the loop's request node, the signal's node, and the messages of each sender.
    typealias Node = UInt8
    static let requestNode: Node = 0
    static let signalNode: Node = 1

    struct State: Hashable {
        // Shared by all threads.
        var word = Word.empty
        /// For each node, the node to which it is linked, plus 1, or 0 if there is none, in four bits.
        var links: UInt64 = 0
        var requests = Requests()
        var bell = Bell.quiet
        /// True if the kernel's list of ready files has the eventfd.
        var isEdgeThere = false
        var isOpen = true
        /// The references of the loop's thread, of senders that hold the loop, of the signal, and of the sender of its node.
        var inboxReferences: Int8 = 1
        /// The references of the port's place in the loop, and of the thread that can send the node.
        var signalReferences: Int8 = 0

        // The actions of senders to which the loop has not yet responded.
        var unanswered = Requests()
        var ringsUnseen = false
        var noticesUnseen = false
        /// True if the node was handed out and has not yet been taken out of the mailbox.
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

    /// True if a sender holds the loop; a sender that has only the port does not.
    func holdsLoop(_ script: [Operation]) -> Bool { script.contains { $0 != .ring && $0 != .nudge } }

    /// Releases a reference to the handle, which closes the descriptor with the last one.
    func releaseInbox(_ state: inout State) {
        state.inboxReferences -= 1
        if state.inboxReferences == 0 { state.isOpen = false }
    }

    func releaseSignal(_ state: inout State, _ walk: inout Exploration<State>) {
        state.signalReferences -= 1
        if state.signalReferences < 0 { walk.fail("a signal was released twice") }
        if state.signalReferences == 0 { releaseInbox(&state) }
    }

    /// Checks a loop that sleeps in the kernel without an event that ends its sleep.
    ///
    /// If its mailbox has a message, the sender of the message must be about to write.
    private func checkSleep(_ state: State, _ walk: inout Exploration<State>) {
        guard state.loop.step == .sleeps, !state.isEdgeThere, state.word.node != nil else { return }
        if state.senders.contains(where: { $0.step == .writes }) { return }
        walk.fail("the loop sleeps, and there is a message")
    }

    /// Checks a state in which the senders are done, and the loop sleeps or has ended.
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
