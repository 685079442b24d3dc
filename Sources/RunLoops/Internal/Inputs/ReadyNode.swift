/// The signal with which another thread makes an input ready.
///
/// The input is a manual source or a port in a loop, a port in a set, or a port whose messages a task iterates over.
///
/// The signal owns one node. To make an input of a loop ready, a thread sends this node to the loop, so sending allocates nothing.
///
/// While the node is in use, it has exactly one holder. The holder can send the node, and has one reference to the signal. The
/// first holder is the mailbox or bell that is armed with the node. The next holder is the sender that takes the node out. If the
/// sender sends the node to a loop, the last holder is the loop's mailbox. There is only one such reference at a time, so the node
/// is never in two lists.
///
/// `@unchecked Sendable`: other threads read only the constant properties. If the destination is a loop, other threads access only
/// the node, so that the cache line of the signal stays with the loop's thread. If the destination is not a loop, one thread takes
/// the place of the loop's thread: the thread that holds the node, or that is about to arm the port with the node.
final class ReadyNode: @unchecked Sendable {
    let node: Node
    private let destination: Destination

    /// The receiver of the node.
    private enum Destination {
        case loop(LoopHandle)
        case other(any SignalReceiver)
    }

    /// The contents of the node: unretained references to the signal and to the loop's handle.
    ///
    /// `@safe`: the holder of the node holds a reference to the signal, and the signal holds a reference to the handle.
    @safe
    private struct Link: BitwiseCopyable {
        let signal: Unmanaged<ReadyNode>
        /// The handle of the loop; nil if the receiver is not a loop.
        let handle: Unmanaged<LoopHandle>?
    }

    /// The step of the pass that serves the input; nil if the receiver is not a loop.
    let step: SignalledStep?

    /// The input that becomes ready; nil after it has left the loop.
    ///
    /// Only the loop's thread may use this.
    var input: (any SignalledInput)?
    /// True if the signal is queued to be served.
    ///
    /// Only the loop's thread may use this.
    var isQueued = false
    /// True while the node is armed or under way, so that another thread can send it.
    ///
    /// While this is true, the input must be neither served nor armed. For example, a sender has queued a message, but has not
    /// sent the node yet. A handler that runs the loop could then find the message, serve it, and arm the input with a node that
    /// the sender is about to send.
    ///
    /// Only the loop's thread may use this.
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
        // Safe: any thread that could send the node would hold a reference, so no such thread exists.
        unsafe node.address.deallocate()
    }

    /// Retains the signal, and returns its node.
    ///
    /// The caller arms a mailbox or a bell with the node.
    ///
    /// The reference belongs to the node until `takeRetained` takes it back. Only the loop's thread may call this.
    func retainedNode() -> Node {
        precondition(!isOut, "the node is in one place")
        isOut = true
        _ = unsafe Unmanaged.passRetained(self)
        return node
    }

    /// Returns the signal that owns a node, and takes over the reference that belongs to the node.
    ///
    /// Only the loop's thread may call this.
    static func takeRetained(_ node: Node) -> ReadyNode {
        // Safe: the node belongs to a signal, and is accompanied by the reference of `retainedNode`.
        let signal = unsafe node.peek(Link.self).signal.takeRetainedValue()
        signal.isOut = false
        return signal
    }

    /// Sends the node to its loop or, if the receiver is not a loop, notifies the receiver.
    ///
    /// Any thread can call this. The call takes over the reference that belongs to the node.
    static func send(_ node: Node) {
        racePoint(.sendsSignal)
        let link = node.peek(Link.self)
        // The handle is retained, because the loop can release the signal as soon as the node is sent.
        if let handle = unsafe link.handle?.takeUnretainedValue() {
            // If the loop has ended, its inputs have left it, and no run waits for this signal.
            if !handle.send(Mailbox.Chain(node)) { unsafe link.signal.release() }
            return
        }
        let signal = takeRetained(node)
        if case .other(let receiver) = signal.destination { receiver.becameReady() }
    }
}

/// A receiver that is not a loop, such as a port set; it is notified when an input has become ready.
protocol SignalReceiver: AnyObject, Sendable {
    /// Notifies the receiver that the input is ready.
    ///
    /// This is called on the thread that has made the input ready.
    func becameReady()
}
