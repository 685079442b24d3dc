/// Something in a loop that other threads make ready: a port or a manual source; or a port in a set.
///
/// Its node is part of it and is sent to the loop each time it becomes ready, so announcing that allocates
/// nothing. The holder of the node, which may send it, holds one reference to the signal: first the word that is armed with
/// it, then the sender that replaced that word, then the loop's mailbox. There is one such reference at a time, so the node is
/// never in two lists.
///
/// `@unchecked Sendable`: other threads touch only the constants, and, if the destination is a loop, the node alone: the
/// signal's cache line is the loop's. For a port in a set, the properties that are marked as the loop's thread's belong to the
/// thread that has the node, or that is about to arm with it.
final class ReadyNode: @unchecked Sendable {
    let node: Node
    private let destination: Destination

    /// The receiver of the node.
    private enum Destination {
        case loop(LoopHandle)
        case other(any SignalReceiver)
    }

    /// The payload of the node.
    ///
    /// `@safe`: the signal holds the handle, and the holder of the node holds the signal.
    @safe
    private struct Link: BitwiseCopyable {
        let signal: Unmanaged<ReadyNode>
        /// Nil if the receiver is not a loop.
        let handle: Unmanaged<LoopHandle>?
    }

    /// The step of the pass that serves the input; nil if the receiver is not a loop.
    let step: SignalledStep?

    /// The input that becomes ready; nil once it has left the loop.
    ///
    /// The loop's thread only.
    var input: (any SignalledInput)?
    /// True if it is in line to be served.
    ///
    /// The loop's thread only.
    var isQueued = false
    /// True if another thread may send the node.
    ///
    /// Then the node will arrive at the loop, and the input must neither be served nor armed before: a run inside a handler
    /// would find a message that a sender has queued and not yet announced, and arm with a node that is on its way.
    ///
    /// The loop's thread only.
    private(set) var isOut = false

    convenience init(handle: LoopHandle, input: any SignalledInput) {
        self.init(.loop(handle), step: input.step)
        self.input = input
    }

    convenience init(to receiver: any SignalReceiver) { self.init(.other(receiver), step: nil) }

    private init(_ destination: Destination, step: SignalledStep?) {
        self.destination = destination
        self.step = step
        let memory = UnsafeMutableRawPointer.allocate(byteCount: Node.stride, alignment: Node.stride)
        precondition(unsafe Mailbox.Word.canHold(memory), "a mailbox holds addresses of 48 bits")
        node = unsafe Node(memory)
        node.kind = .signal
        node.next = nil
        let handle: Unmanaged<LoopHandle>? =
            switch destination {
            case .loop(let handle): unsafe .passUnretained(handle)
            case .other: nil
            }
        node.store(unsafe Link(signal: .passUnretained(self), handle: handle))
    }

    deinit {
        // Safe: no thread that could send the node is left, or there would be a reference.
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
    static func takeRetained(_ node: Node) -> ReadyNode {
        // Safe: the node is that of a signal, and comes with the reference of `retainedNode`.
        let signal = unsafe node.peek(Link.self).signal.takeRetainedValue()
        signal.isOut = false
        return signal
    }

    /// Sends the node to the loop, or tells the set.
    ///
    /// Any thread; the caller hands over the reference that came with the node.
    static func send(_ node: Node) {
        racePoint(.sendsSignal)
        let link = node.peek(Link.self)
        // Held: once the node is sent, the loop may release the signal.
        if let handle = unsafe link.handle?.takeUnretainedValue() {
            // If the loop has ended, the input knows that, and no run waits for this signal.
            if !handle.send(Mailbox.Chain(node)) { unsafe link.signal.release() }
            return
        }
        let signal = takeRetained(node)
        if case .other(let receiver) = signal.destination { receiver.becameReady() }
    }
}

/// A receiver of the news that an input has become ready, other than a loop.
protocol SignalReceiver: AnyObject, Sendable {
    /// Called on the thread that has made the input ready.
    func becameReady()
}
