/// A set of ports whose messages a thread receives without a loop.
///
/// Use a set for a thread that does nothing but receive, and for several threads that share the work. All elements of the set have
/// one type. For each member you pass a closure that makes the elements from the messages, so that you can tell the members apart:
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
/// Members with messages are served in turn, one message each, so no member starves behind a busy member. A port is in at most one
/// set or one loop. While it is in neither, its messages wait in the port, and its next set or loop serves them. The set holds its
/// members. A member that has ended leaves the set after the element that reports its end was received.
///
/// When the last reference to the set is released, the set releases its members.
///
/// > Thread safety: any thread. Other threads can add and remove members while a thread waits.
public final class PortSet<Element: Sendable>: Sendable {
    @usableFromInline let core = PortSetCore()
    let origin: SourceLocation

    /// Makes an empty set.
    ///
    /// - Parameters:
    ///   - fileID: The file of the call, for diagnostics.
    ///   - line: The line of the call, for diagnostics.
    public init(fileID: StaticString = #fileID, line: Int = #line) {
        origin = SourceLocation(fileID, line)
    }

    deinit { core.end() }

    /// Adds a port.
    ///
    /// The set also receives the messages that were sent to the port before. If the port is in the set already, the call does
    /// nothing.
    ///
    /// - Parameters:
    ///   - port: The port. It must be in no loop and in no other set.
    ///   - end: The element that is received after the port has ended; nil for no element.
    ///   - element: Makes the element from a message. The closure is called on the thread that receives, and not under a lock.
    ///
    /// > Thread safety: any thread.
    @inlinable
    public func add<Message: Sendable>(
        _ port: Port<Message>, atEnd end: Element? = nil, _ element: @escaping @Sendable (Message) -> Element
    ) {
        // The method is inlinable, so that the closure is compiled for the message's type.
        add(port, port.core, end) { node in element(node.move(Message.self)) }
    }

    /// Adds a port whose messages have the set's element type, so that the set returns the messages unchanged.
    ///
    /// - Parameters:
    ///   - port: The port. It must be in no loop and in no other set.
    ///   - end: The element that is received after the port has ended; nil for no element.
    ///
    /// > Thread safety: any thread.
    public func add(_ port: Port<Element>, atEnd end: Element? = nil) { add(port, atEnd: end) { $0 } }

    /// Adds a signal port.
    ///
    /// - Parameters:
    ///   - port: The port. It must be in no loop and in no other set.
    ///   - end: The element that is received after the port has ended; nil for no element.
    ///   - element: Makes the element that is received after one or more signals.
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

    /// Removes a port from the set.
    ///
    /// Messages that were not received stay in the port. If the port was the last member, every waiting call of
    /// ``receive(before:)`` throws ``PortSetError/Reason/noMembers``.
    ///
    /// - Parameter port: The port. If it is not in the set, the call does nothing.
    ///
    /// > Thread safety: any thread.
    public func remove<Message: Sendable>(_ port: Port<Message>) { core.remove(port.core) }

    /// The number of ports in the set.
    ///
    /// The number includes each ended port until you have received the element that reports its end.
    ///
    /// > Thread safety: any thread; the value can change at any moment.
    public var count: Int { core.count }

    /// Waits for a message of any member.
    ///
    /// The thread sleeps until there is a message. Its loop, if it has one, does not run in the meantime. Several threads can wait,
    /// and each message goes to one of them. For the detection of <doc:Deadlocks>, the thread that last received from the set
    /// counts as the thread that serves the set.
    ///
    /// - Returns: The element that a member's closure made from its message, or the element for a member's end.
    /// - Throws: ``PortSetError`` if the set has no members.
    ///
    /// > Thread safety: any thread. Not in asynchronous code, whose thread the call would block.
    @available(*, noasync, message: "this blocks the thread; add the ports to a loop instead")
    @inlinable
    public func receive() throws(PortSetError) -> Element {
        // This is separate from the method with a deadline, because passing an instant costs a tenth of the call.
        try element(of: next(before: .never))
    }

    /// Waits for a message of any member, at most until a deadline.
    ///
    /// This is the same as ``receive()``, with a deadline.
    ///
    /// - Parameter deadline: The time at which the wait ends; nil for never. If the deadline has passed already, the call checks
    ///   once and does not wait.
    /// - Returns: The element that a member's closure made from its message, or the element for a member's end.
    /// - Throws: ``PortSetError`` if the deadline passed or the set has no members.
    ///
    /// > Thread safety: any thread. Not in asynchronous code, whose thread the call would block.
    @available(*, noasync, message: "this blocks the thread; add the ports to a loop instead")
    @inlinable
    public func receive(before deadline: ContinuousClock.Instant?) throws(PortSetError) -> Element {
        try element(of: next(before: Moment(ofDeadline: deadline)))
    }

    /// Makes the element of what was received.
    @inlinable @inline(__always)
    func element(of received: PortSetCore.Reception) -> Element {
        // This is inlinable, so that it is compiled for the type of the elements. Everything else is not generic.
        let member = typed(received.member)
        guard let node = received.node else { return member.endElement() }
        // The node carries its message until the element is made from it.
        defer { member.release(node) }
        return member.element(node)
    }

    @usableFromInline
    func next(before deadline: Moment) throws(PortSetError) -> PortSetCore.Reception {
        do {
            return try core.receive(before: deadline)
        } catch { throw error.about("port set made at \(origin)") }
    }

    @inlinable
    func typed(_ member: PortSetMember) -> ElementMember<Element> {
        // Safe: only `add` adds members, and it adds members of this type.
        unsafe unsafeDowncast(member, to: ElementMember<Element>.self)
    }
}

extension PortSet: CustomStringConvertible {
    /// The number of members, and the place where the set was made.
    public var description: String { "port set of \(count) made at \(origin)" }
}
