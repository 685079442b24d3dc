/// Ports whose messages a thread receives without a loop: whichever comes first.
///
/// For a thread that does nothing else than to receive, and for several that share the work. What the set gives is of one
/// type; each member says how its messages become that, and so which member it was:
///
/// ```swift
/// enum Event { case order(Order), price(Price), closed }
/// let events = PortSet<Event>()
/// events.add(orders, atEnd: .closed) { .order($0) }
/// events.add(prices) { .price($0) }
/// receiving: while true {
///     switch try events.receive() {
///     case .order(let order): serve(order)
///     case .price(let price): show(price)
///     case .closed: break receiving
///     }
/// }
/// ```
///
/// Members with messages are served in turn, one message each, so none starves behind a busy one. A port is in one set
/// or in one loop; its messages wait while it is in neither, and follow it. The set holds its members. One that has ended
/// leaves by itself, after what was said to be given then.
///
/// The set ends with its last reference, and lets its members go.
///
/// > Thread safety: any thread. Of one that waits, others may add and remove members.
public final class PortSet<Element: Sendable>: Sendable {
    let core = PortSetCore()
    let origin: SourceLocation

    /// Makes an empty set.
    ///
    /// - Parameters:
    ///   - fileID: The file in which it is made, for diagnostics.
    ///   - line: The line on which it is made, for diagnostics.
    public init(fileID: StaticString = #fileID, line: Int = #line) {
        origin = SourceLocation(fileID, line)
    }

    deinit { core.end() }

    /// Adds a port.
    ///
    /// Messages from before are received, too. Adding one that is in the set changes nothing.
    ///
    /// - Parameters:
    ///   - port: The port; in no loop and in no other set.
    ///   - end: What is received once the port has ended, in place of its messages; nil for nothing.
    ///   - element: Makes of a message what is received. Called on the thread that receives, without a lock.
    ///
    /// > Thread safety: any thread.
    @inlinable
    public func add<Message: Sendable>(
        _ port: Port<Message>, atEnd end: Element? = nil, _ element: @escaping @Sendable (Message) -> Element
    ) {
        // Here, and not in the library, so that it is compiled for the message's type.
        add(port, port.core, end) { node in element(node.move(Message.self)) }
    }

    /// Adds a port that carries what the set gives.
    ///
    /// - Parameters:
    ///   - port: The port; in no loop and in no other set.
    ///   - end: What is received once the port has ended; nil for nothing.
    ///
    /// > Thread safety: any thread.
    public func add(_ port: Port<Element>, atEnd end: Element? = nil) { add(port, atEnd: end) { $0 } }

    /// Adds a port that carries signals.
    ///
    /// - Parameters:
    ///   - port: The port; in no loop and in no other set.
    ///   - end: What is received once the port has ended; nil for nothing.
    ///   - element: Makes what is received after one or more signals.
    ///
    /// > Thread safety: any thread.
    public func add(
        _ port: Port<Void>, atEnd end: Element? = nil, _ element: @escaping @Sendable () -> Element
    ) {
        add(port, port.core, end) { _ in element() }
    }

    @usableFromInline
    func add(
        _ port: any AnyObject & Sendable, _ portCore: PortCore, _ end: Element?,
        _ element: @escaping @Sendable (Node) -> Element
    ) {
        core.add(ElementMember(port, portCore, end: end, core, element))
    }

    /// Takes a port out.
    ///
    /// What was not received stays in the port. If it was the last member, those who wait are told that there are none.
    ///
    /// - Parameter port: The port. One that is not in the set is left alone.
    ///
    /// > Thread safety: any thread.
    public func remove<Message: Sendable>(_ port: Port<Message>) { core.remove(port.core) }

    /// How many ports are in the set.
    ///
    /// One that has ended counts until that was received.
    ///
    /// > Thread safety: any thread; it may change at any moment.
    public var count: Int { core.count }

    /// Waits for a message of any member.
    ///
    /// The thread sleeps while there is none; its loop, if it has one, does not run meanwhile. Several threads may wait,
    /// and each message goes to one of them. Where threads look for circles of waits, the set counts as served by the
    /// thread that has received from it last.
    ///
    /// - Parameter deadline: When to give up; nil for never. With one that has passed it looks once.
    /// - Returns: What the member made of its message, or what is received at a member's end.
    /// - Throws: ``PortSetError``: the deadline passed, or there is no member that could have a message.
    ///
    /// > Thread safety: any thread. Not in asynchronous code, which it would block.
    @available(*, noasync, message: "this blocks the thread; add the ports to a loop instead")
    public func receive(before deadline: ContinuousClock.Instant? = nil) throws(PortSetError) -> Element {
        let reception: PortSetCore.Reception
        do {
            reception = try core.receive(before: deadline.map { Moment($0) } ?? .never)
        } catch { throw error.about(.portSet(origin)) }
        switch reception {
        case .message(let member, let message): return typed(member).receive(message)
        case .end(let member):
            guard let end = typed(member).end else { preconditionFailure("such a member says something") }
            return end
        }
    }

    private func typed(_ member: PortSetMember) -> ElementMember<Element> {
        // Safe: `add` is the only way in.
        unsafe unsafeDowncast(member, to: ElementMember<Element>.self)
    }
}

extension PortSet: CustomStringConvertible {
    /// The number of members, and the place where the set was made.
    public var description: String { "port set of \(count) made at \(origin)" }
}
