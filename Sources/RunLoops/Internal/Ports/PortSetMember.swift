/// A port as a member of a port set, independent of the type of the elements.
///
/// `@unchecked Sendable`: the comment on each mutable property says which of the set's two locks guards it.
@usableFromInline
class PortSetMember: SignalReceiver, @unchecked Sendable {
    let core: PortCore
    /// True if the set returns an element when the port has ended.
    let reportsEnd: Bool
    /// The port itself, which the member retains.
    private let port: any AnyObject & Sendable
    private let set: PortSetCore

    /// True while the member is in the set's queue of ready members.
    ///
    /// This is guarded by the lock of that queue.
    var isReady = false
    /// True before the member joins the set, and after it has left the set.
    ///
    /// This is guarded by the lock of the set's queue of ready members.
    var isDetached = true
    /// The signal with which an empty port is armed; nil while the port is not in the set.
    ///
    /// This is guarded by the set's `receiving` lock.
    private var signal: ReadyNode?

    init(_ port: any AnyObject & Sendable, _ core: PortCore, reportsEnd: Bool, _ set: PortSetCore) {
        self.port = port
        self.core = core
        self.reportsEnd = reportsEnd
        self.set = set
    }

    /// Queues this member as ready.
    ///
    /// This is called when a sender has found the member's port empty, and when the port has ended.
    func becameReady() { set.becameReady(self) }
}

/// A member, with the function that turns the member's messages into elements.
///
/// This is a subclass, so that the rest of the code is not generic.
@usableFromInline
final class ElementMember<Element: Sendable>: PortSetMember, @unchecked Sendable {
    /// The element that is received after the port has ended; nil for no element.
    private let end: Element?
    /// Turns the message of a node into an element.
    @usableFromInline let element: @Sendable (Node) -> Element

    init(
        _ port: any AnyObject & Sendable, _ core: PortCore, end: Element?, _ set: PortSetCore,
        _ element: @escaping @Sendable (Node) -> Element
    ) {
        self.end = end
        self.element = element
        super.init(port, core, reportsEnd: end != nil, set)
    }

    /// Returns the element that is received after the port has ended.
    @usableFromInline
    func endElement() -> Element {
        guard let end else { preconditionFailure("such a member says something") }
        return end
    }
}

// The operations of a port's receiver. They are called under the set's `receiving` lock.
extension PortSetMember {
    /// Makes the signal, so that the member can receive.
    func begin() { signal = ReadyNode(to: self) }

    /// Arms the port's mailbox, or the bell of a signal port.
    ///
    /// - Returns: False if there is already a message, or the port has ended. In both cases no sender will signal.
    func arm() -> Bool {
        guard let signal else { return false }
        if core.isSignalPort {
            if !core.bell.armUnlessRung(with: signal.retainedNode()) {
                _ = ReadyNode.takeRetained(signal.node)
                return false
            }
            // If the port was closed before the bell was armed, no thread will ring the bell.
            return !core.isClosed
        }
        return core.takeMail() == 0 && core.arm(with: signal)
    }

    /// Removes and returns the next message, and arms the mailbox or the bell again.
    ///
    /// - Parameter pump: Receives the senders that wait for room and now have it. The caller wakes them after it has released the
    ///   set's lock.
    /// - Returns: The node of the message, or of the signal, which carries no message and does not belong to the receiver; nil if
    ///   there is none. `hasMore` is true if there is already more to receive; in that case no sender will signal.
    func take(_ pump: inout PortQueue.Pump) -> (node: Node?, hasMore: Bool) {
        if core.isSignalPort { return takeSignal() }
        _ = core.takeMail()
        var taken: Node?
        while taken == nil, let node = core.takeIntoOwnNode(&pump) {
            if node.mark == .noSenders { dropNotice(node) } else { taken = node }
        }
        return (taken, core.backlogCount > 0 || !isArmedAgain)
    }

    /// Arms the mailbox again; false if there is already a message, or the member has left the set.
    private var isArmedAgain: Bool { signal.map { core.arm(with: $0) } ?? false }

    private func takeSignal() -> (node: Node?, hasMore: Bool) {
        guard let signal else { return (nil, false) }
        // The bell is armed before the signal is used, so that no later ring is lost. The only other mail of a signal port is
        // notices, which stay in the mailbox.
        let wasRung = core.bell.arm(with: signal.retainedNode())
        return (wasRung ? signal.node : nil, core.isClosed)
    }

    /// Releases a node that ``take(_:)`` has returned, after its message was moved out.
    @usableFromInline
    func release(_ node: Node) {
        if core.isSignalPort { return }
        if node.mark == .beyondLimit { node.freeStandalone() } else { PortCore.discard(node) }
    }

    /// Stops receiving, and releases the claim on the port, so that another receiver can take the port.
    func cease() {
        guard let signal else { return }
        core.disarm(signal)
        self.signal = nil
        core.receiver.claim.release()
    }

    /// Discards a no-senders notice, which says that no send right is left.
    ///
    /// A port in a set has no handler for the notice. The next call of `onNoSenders` requests a new notice.
    private func dropNotice(_ node: Node) {
        _ = core.noSendersNoticeArrives(isWanted: false)
        node.freeStandalone()
    }
}
