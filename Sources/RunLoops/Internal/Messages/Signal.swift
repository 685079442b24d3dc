/// Something in a loop that other threads make ready: a port or a manual source; or a port in a set.
///
/// Its node is part of it and is sent to the loop each time it becomes ready, so announcing that allocates
/// nothing. Whoever may send the node holds one reference to the signal: the word that is armed with it,
/// then the sender that replaced it, then the loop's mailbox. There is one such reference at a time, so
/// the node is never in two lists.
///
/// `@unchecked Sendable`: other threads touch only what never changes, and, if a loop is told, the node alone: the signal's
/// cache line is the loop's. What is the loop's thread's only is, for a port in a set, the business of whoever has the node, or
/// is about to arm with it.
final class Signal: @unchecked Sendable {
    let node: Node
    private let destination: Destination

    /// Who is told.
    private enum Destination {
        case loop(Inbox)
        case other(any SignalReceiver)
    }

    /// What the node carries.
    ///
    /// `@safe`: the signal holds the inbox, and whoever has the node holds the signal.
    @safe
    private struct Link: BitwiseCopyable {
        let signal: Unmanaged<Signal>
        /// Nil if another than a loop is told.
        let inbox: Unmanaged<Inbox>?
    }

    /// The input that becomes ready; nil once it has left the loop.
    ///
    /// The loop's thread only.
    var input: (any SignalledInput)?
    /// Whether it is in line to be served.
    ///
    /// The loop's thread only.
    var isQueued = false
    /// Whether somebody else may send the node.
    ///
    /// Then the loop will hear of it, and the input must neither be served nor armed before: a run inside a handler
    /// would find what a sender has queued and not yet announced, and arm with a node that is on its way.
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
        // Safe: nobody who could send the node is left, or there would be a reference.
        unsafe node.address.deallocate()
    }

    /// Gives out the reference that goes with the node.
    ///
    /// The loop's thread only.
    func retainedNode() -> Node {
        precondition(!isOut, "the node is in one place")
        isOut = true
        _ = unsafe Unmanaged.passRetained(self)
        return node
    }

    /// Takes the reference back.
    ///
    /// The loop's thread only.
    static func takeRetained(_ node: Node) -> Signal {
        // Safe: the node is that of a signal, and comes with the reference of `retainedNode`.
        let signal = unsafe node.peek(Link.self).signal.takeRetainedValue()
        signal.isOut = false
        return signal
    }

    /// Tells the loop, or the set.
    ///
    /// Any thread; the caller hands over the reference that came with the node.
    static func send(_ node: Node) {
        racePoint(.sendsSignal)
        let link = node.peek(Link.self)
        // Held: once the node is sent, the loop may let go of the signal.
        if let inbox = unsafe link.inbox?.takeUnretainedValue() {
            // If the loop has ended, the input was told, and nobody waits for this signal.
            if !inbox.send(Mailbox.Chain(node)) { unsafe link.signal.release() }
            return
        }
        let signal = takeRetained(node)
        if case .other(let receiver) = signal.destination { receiver.becameReady() }
    }
}

/// What is told, other than a loop, that something has become ready.
protocol SignalReceiver: AnyObject, Sendable {
    /// Called on the thread that has made it ready.
    func becameReady()
}

/// An input that is served because another thread has made it ready.
protocol SignalledInput: LoopInput {
    /// When in a pass the input is served.
    var step: SignalledStep { get }

    /// Serves what is there, as far as the budget goes. The loop's thread, in a mode of the input's.
    ///
    func serve(in loop: LoopCore, _ budget: inout Budget) -> Served
}

/// What became of serving an input.
package struct Served {
    /// Whether a handler was called.
    package var calledHandler = false
    /// Whether more is there already: then the input is served again in the next pass.
    package var hasMore = false

    package init(calledHandler: Bool = false, hasMore: Bool = false) {
        self.calledHandler = calledHandler
        self.hasMore = hasMore
    }
}

/// The two places of a pass at which signalled inputs are served.
enum SignalledStep {
    /// With the manual sources, before the loop decides whether to sleep.
    case manualSources
    /// With the ports, after the timers.
    case ports
}
