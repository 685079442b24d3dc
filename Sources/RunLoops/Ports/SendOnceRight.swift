/// A right to send one message to a port.
///
/// Sending consumes the right. It never waits, not even if the port is full, because room for the message was reserved when the
/// right was made. If the right is destroyed unused, it sends the message that it was made with. So the receiver gets exactly one
/// message from each right. The message is passed to the receiver's ordinary handler, after all messages that were sent earlier.
///
/// ```swift
/// let answers = Port<Answer>()
/// RunLoop.current.add(answers, forMode: .default) { answer in show(answer) }
/// ask("how much", answers.makeSendOnceRight(ifUnused: .none))
/// ```
///
/// A right does not keep its port alive: after the port has ended, sending throws.
///
/// > Thread safety: a value with one owner. The owner is allowed to pass the value to any thread.
public struct SendOnceRight<Message: Sendable>: ~Copyable, Sendable {
    @usableFromInline let core: PortCore

    /// The node with the message that is sent if the right is destroyed unused; nil after the right was used.
    @usableFromInline var node: Node?

    @inlinable
    init(_ core: PortCore, ifUnused message: consuming Message) {
        self.core = core
        let node = core.makeSendOnceNode()
        node.store(message)
        self.node = node
    }

    deinit {
        if let node { core.sendUnused(node) }
    }

    /// True until the port ends.
    ///
    /// > Thread safety: any thread; the port can end at any moment.
    public var isValid: Bool { !core.isClosed }

    /// Sends the message, and consumes the right.
    ///
    /// - Parameter message: The message. The receiver owns it after the call has sent it.
    /// - Throws: ``PortSendError``, which returns the unsent message, if the port has ended. The right is consumed then, too.
    ///
    /// > Thread safety: any thread. Not in a signal handler.
    @inlinable
    public consuming func send(_ message: consuming Message) throws(PortSendError<Message>) {
        guard let node = self.node else { preconditionFailure("a right that was used is gone") }
        self.node = nil
        _ = node.move(Message.self)
        node.store(message)
        if let refusal = core.sendOnce(node) {
            let message = node.move(Message.self)
            PortCore.discardSendOnceNode(node)
            throw PortSendError(core, refusal, [message])
        }
    }
}

extension SendOnceRight where Message == Void {
    /// Sends the signal, and consumes the right.
    ///
    /// - Throws: ``PortSendError`` if the port has ended. The right is consumed then, too.
    ///
    /// > Thread safety: any thread. Not in a signal handler.
    public consuming func send() throws(PortSendError<Void>) { try send(()) }
}
