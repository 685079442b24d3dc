/// The announcement that an input has become ready on another thread: a port or manual source of a loop, or a port in a set.
///
/// Its node is part of it and is sent to the loop each time the input becomes ready, so the announcement allocates nothing. The
/// owner of the node holds one reference to the signal: the word that is armed with the node, then the sender that has replaced
/// that word, then the loop's mailbox. There is one such reference at a time, so the node is never in two lists.
///
/// `@unchecked Sendable`: other threads access only the constant parts and, if the signal goes to a loop, only the node,
/// because the signal's cache line belongs to the loop. The parts that are for the loop's thread only belong, for a port in a
/// set, to the thread that has the node or is about to arm with it.
final class Signal: @unchecked Sendable {
    let node: Node
    private let destination: Destination

    /// The receiver of the announcement.
    private enum Destination {
        case loop(Inbox)
        case other(any SignalReceiver)
    }

    /// The contents of the node.
    ///
    /// `@safe`: the signal holds the inbox, and the owner of the node holds the signal.
    @safe
    private struct Link: BitwiseCopyable {
        let signal: Unmanaged<Signal>
        /// The loop's inbox; nil for a port in a set.
        let inbox: Unmanaged<Inbox>?
    }

    /// The input that becomes ready; nil once it has left the loop.
    ///
    /// The loop's thread only.
    var input: (any SignalledInput)?
    /// True while the input is in line to be served.
    ///
    /// The loop's thread only.
    var isQueued = false
    /// True while another thread may send the node.
    ///
    /// Then the loop will be signalled, and the input must not be served or armed before that: a run inside a handler would
    /// find messages that a sender has queued and not yet announced, and would arm with a node that is on its way.
    ///
    /// The loop's thread only.
    private(set) var isOut = false

    convenience init(inbox: Inbox, input: any SignalledInput) {
        self.init(.loop(inbox))
        self.input = input
    }

    convenience init(to receiver: any SignalReceiver) { self.init(.other(receiver)) }

    private init(_ destination: Destination) {
        self.destination = destination
        let memory = UnsafeMutableRawPointer.allocate(byteCount: Node.stride, alignment: Node.stride)
        precondition(unsafe Mailbox.Word.canHold(memory), "a mailbox holds addresses of 48 bits")
        node = unsafe Node(memory)
        node.kind = .signal
        node.next = nil
        let inbox: Unmanaged<Inbox>? =
            switch destination {
            case .loop(let inbox): unsafe .passUnretained(inbox)
            case .other: nil
            }
        node.store(unsafe Link(signal: .passUnretained(self), inbox: inbox))
    }

    deinit {
        // Safe: no thread has the node, because each of them would have a reference.
        unsafe node.address.deallocate()
    }

    /// Hands out the node with a reference.
    ///
    /// The loop's thread only.
    func retainedNode() -> Node {
        precondition(!isOut, "the node is in one place")
        isOut = true
        _ = unsafe Unmanaged.passRetained(self)
        return node
    }

    /// Takes the node's reference back.
    ///
    /// The loop's thread only.
    static func takeRetained(_ node: Node) -> Signal {
        // Safe: the node is that of a signal, and comes with the reference of `retainedNode`.
        let signal = unsafe node.peek(Link.self).signal.takeRetainedValue()
        signal.isOut = false
        return signal
    }

    /// Announces to the loop or the set that the input is ready.
    ///
    /// Any thread. The caller hands over the reference that came with the node.
    static func send(_ node: Node) {
        racePoint(.sendsSignal)
        let link = node.peek(Link.self)
        // Retained, because the loop may release the signal as soon as the node is sent.
        if let inbox = unsafe link.inbox?.takeUnretainedValue() {
            // If the loop has ended, the input has left it, and the announcement has no effect.
            if !inbox.send(Mailbox.Chain(node)) { unsafe link.signal.release() }
            return
        }
        let signal = takeRetained(node)
        if case .other(let receiver) = signal.destination { receiver.becameReady() }
    }
}

/// A receiver of announcements other than a loop.
protocol SignalReceiver: AnyObject, Sendable {
    /// Called on the thread that has made the input ready.
    func becameReady()
}

/// An input that is served because another thread has made it ready.
protocol SignalledInput: LoopInput {
    /// The step of a pass in which the input is served.
    var step: SignalledStep { get }

    /// Serves the input within the budget.
    ///
    /// Called on the loop's thread, in a mode of the input.
    func serve(in loop: LoopCore, _ budget: inout Budget) -> Served
}

/// The outcome of serving an input.
package struct Served {
    /// True if a handler was called.
    package var calledHandler = false
    /// True if more is ready already.
    ///
    /// Then the input is served again in the next pass.
    package var hasMore = false

    package init(calledHandler: Bool = false, hasMore: Bool = false) {
        self.calledHandler = calledHandler
        self.hasMore = hasMore
    }
}

/// The two steps of a pass in which signalled inputs are served.
enum SignalledStep {
    /// With the manual sources, before the loop decides whether to sleep.
    case manualSources
    /// With the ports, after the timers.
    case ports
}
