/// A port's place in a set, whatever its messages become.
///
/// `@unchecked Sendable`: each property that changes says which of the set's two locks guards it.
@usableFromInline
class PortSetMember: SignalReceiver, @unchecked Sendable {
    let core: PortCore
    /// Whether something is received once the port has ended.
    let tellsEnd: Bool
    /// The port itself, which lives as long as it is in a set.
    private let port: any AnyObject & Sendable
    private let set: PortSetCore

    /// Whether it is in the set's line.
    ///
    /// Guarded by the line.
    var isInLine = false
    /// Whether it has left the set, or was never in it.
    ///
    /// Guarded by the line.
    var isOut = true
    /// What the port is armed with while it is empty; nil while the port is not in the set.
    ///
    /// Guarded by the turn.
    private var signal: ReadyNode?

    init(_ port: any AnyObject & Sendable, _ core: PortCore, tellsEnd: Bool, _ set: PortSetCore) {
        self.port = port
        self.core = core
        self.tellsEnd = tellsEnd
        self.set = set
    }

    /// A sender has found the port empty.
    func becameReady() { set.becameReady(self) }

    /// What was taken out of a port.
    enum Taken {
        /// A signal, with a node that carries nothing and is not the receiver's.
        case signal(Node)
        case message(Node)
        case beyondLimit(Node)
    }
}

/// A member with what its messages become.
///
/// Apart, so that all the rest is compiled for no type in particular.
@usableFromInline
final class ElementMember<Element: Sendable>: PortSetMember, @unchecked Sendable {
    /// What is received once the port has ended.
    let end: Element?
    private let element: @Sendable (Node) -> Element

    init(
        _ port: any AnyObject & Sendable, _ core: PortCore, end: Element?, _ set: PortSetCore,
        _ element: @escaping @Sendable (Node) -> Element
    ) {
        self.end = end
        self.element = element
        super.init(port, core, tellsEnd: end != nil, set)
    }

    /// What a message is received as; gives its node back.
    func receive(_ message: Taken) -> Element {
        switch message {
        case .signal(let node): return element(node)
        case .message(let node):
            defer { PortCore.discard(node) }
            return element(node)
        case .beyondLimit(let node):
            defer { node.freeLone() }
            return element(node)
        }
    }
}

// What only the receiver of a port may do: in the set's turn.
extension PortSetMember {
    /// Begins to receive.
    func begin() { signal = ReadyNode(to: self) }

    /// Asks to be told of the next message.
    ///
    /// - Returns: False if something is there already, or the port has ended: then nobody is told.
    func arm() -> Bool {
        guard let signal else { return false }
        if core.merges {
            if !core.bell.armUnlessRung(with: signal.retainedNode()) {
                _ = ReadyNode.takeRetained(signal.node)
                return false
            }
            // Closed before the bell was armed: nobody rings any more.
            return !core.isClosed
        }
        return core.takeMail() == 0 && core.arm(with: signal)
    }

    /// Takes one message out, and asks to be told of the next one.
    ///
    /// - Returns: What was taken, and whether nobody tells of more because it is there already.
    func take() -> (taken: Taken?, hasMore: Bool) {
        guard let signal else { return (nil, false) }
        if core.merges {
            // Armed before what is received is used, so that a ring meanwhile is not lost. Such a port has no other mail
            // than notices, which stay.
            let wasRung = core.bell.arm(with: signal.retainedNode())
            return (wasRung ? .signal(signal.node) : nil, core.isClosed)
        }
        _ = core.takeMail()
        var taken: Taken?
        while taken == nil, let node = core.takeAlone() {
            switch node.mark {
            case .ordinary, .pack: taken = .message(node)
            case .beyondLimit: taken = .beyondLimit(node)
            case .noSenders: dropNotice(node)
            }
        }
        return (taken, !core.arm(with: signal))
    }

    /// Ceases to receive.
    func cease() {
        guard let signal else { return }
        if core.merges {
            if let node = core.bell.disarm() { _ = ReadyNode.takeRetained(node) }
        } else if core.mailbox.disarm() {
            _ = ReadyNode.takeRetained(signal.node)
        }
        self.signal = nil
        core.claim.giveUp()
    }

    /// Nobody can ask for notices in a set: what this one tells is told to whoever asks next.
    private func dropNotice(_ node: Node) {
        _ = core.noSendersNoticeArrives(isWanted: false)
        node.freeLone()
    }
}
