public import RunLoops

/// A connection to a ``MessagePort`` of this or another process: what one sends with.
///
/// Any number of threads and tasks may send and request at the same time. Messages of one thread arrive in its order; replies
/// come in the order in which they are given.
///
/// ```swift
/// let times = try RemotePort(named: PortName("org.example.times"))
/// let time = try times.request(before: .now + .seconds(1))
/// print(String(decoding: time.bytes, as: UTF8.self))
/// ```
///
/// When the port or its process ends, so does the connection, and everybody who waits is told. A new port of the same name
/// is another one: connect anew.
///
/// It ends with ``invalidate()``, or when the last reference to it goes.
///
/// > Thread safety: any thread.
public final class RemotePort: Sendable {
    let connection: RemoteConnection

    /// The name that was looked up.
    public let name: PortName

    /// Looks up a name, connects, and waits until the port lets this process in.
    ///
    /// It waits for the port's loop, which has to run in a mode that the port is in. An unknown name is an error at once.
    ///
    /// - Parameters:
    ///   - name: The port's name.
    ///   - names: Where the name is kept.
    ///   - deadline: When to give up; nil for never.
    ///   - largestReply: How many bytes a reply may have; the other end is told.
    ///   - mostDescriptors: How many descriptors a reply may carry, up to 253.
    ///   - fileID: Where it was made, for diagnostics.
    ///   - line: Where it was made, for diagnostics.
    /// - Throws: ``MessagePortError``: ``MessagePortError/name(_:)`` for a name that nobody has,
    ///   ``MessagePortError/notAdmitted``, ``MessagePortError/timedOut``, ``MessagePortError/wouldDeadlock`` if this thread
    ///   is to serve the port, and what else may be. Nothing is left open.
    ///
    /// > Thread safety: any thread, which it blocks.
    public init(
        named name: PortName, in names: PortNames = .user, before deadline: ContinuousClock.Instant? = nil,
        largestReply: Int = 65_536, mostDescriptors: Int = 32,
        fileID: StaticString = #fileID, line: Int = #line
    ) throws(MessagePortError) {
        if !(0...Int(Int32.max)).contains(largestReply) {
            misuse("RemotePort.init: \(largestReply) is no size of a reply; use 0 to \(Int32.max)")
        }
        if !(0...PacketSocket.mostDescriptors).contains(mostDescriptors) {
            misuse(
                "RemotePort.init: a reply cannot carry \(mostDescriptors) descriptors; use 0 to \(PacketSocket.mostDescriptors)"
            )
        }
        self.name = name
        // A thread that ended here would be taken for one that waits.
        let cancelling = Cancelling.putOff()
        defer { cancelling.goOn() }
        let origin = SourceLocation(fileID, line)
        do {
            connection = try RemoteConnection(
                name, names, largestReply: largestReply, descriptors: mostDescriptors, origin: origin,
                before: deadline)
        } catch { throw error.about(.remotePort(name, origin)) }
    }

    deinit { connection.end(.ended) }

    /// The origin of errors of this port.
    var origin: ErrorOrigin { .remotePort(name, connection.origin) }

    /// Which process has the port.
    ///
    /// For a program that relies on it: under an abstract name there may be anybody.
    public var peer: PeerCredentials { connection.peer }

    /// How many bytes a message may have, and how many descriptors it may carry, as the port has said.
    public var limits: (bytes: Int, descriptors: Int) {
        (Int(connection.limits.bodyLength), Int(connection.limits.descriptorCount))
    }

    /// False once the connection is known to have ended.
    ///
    /// > Thread safety: any thread; it may end at any moment.
    public var isValid: Bool { !connection.isEnded }

    /// How many replies came to requests that nobody waited for any more, or word that there would be none.
    ///
    /// They were dropped.
    ///
    /// > Thread safety: any thread; it may change at any moment.
    public var lateReplyCount: Int { connection.lateReplyCount }

    /// Ends the connection: who waits gets ``MessagePortError/ended``, and sending throws it from now on.
    ///
    /// Messages that were sent before arrive. Again is harmless.
    ///
    /// > Thread safety: any thread.
    public func invalidate() {
        Fork.check("RemotePort.invalidate")
        connection.end(.ended)
    }

    /// Sends a message.
    ///
    /// It is sent as a whole, or not at all. While the port has no room, because it is not served or has much to do, or the
    /// kernel has no memory or too many descriptors under way, it waits, without running this thread's loop. That it was sent
    /// says that the kernel has it, and not that anybody has read it.
    ///
    /// - Parameters:
    ///   - bytes: What is sent.
    ///   - id: A number that goes with it, whose meaning is up to the two.
    ///   - descriptors: What goes with it; they stay open here, and are the caller's.
    ///   - deadline: When to give up; nil for never. With one that has passed it tries once.
    /// - Throws: ``MessagePortError``; then nothing was sent.
    ///
    /// > Thread safety: any thread. Not in a signal handler.
    public func send(
        _ bytes: [UInt8] = [], id: UInt32 = 0, descriptors: [CInt] = [],
        before deadline: ContinuousClock.Instant? = nil
    ) throws(MessagePortError) {
        // Safe: bytes have nothing between them.
        try unsafe send(bytes.span.bytes, id: id, descriptors: descriptors, before: deadline)
    }

    /// Sends bytes that are somewhere in memory, without copying them here.
    ///
    /// As ``send(_:id:descriptors:before:)-([UInt8],_,_,_)``.
    ///
    /// - Parameters:
    ///   - bytes: What is sent.
    ///   - id: A number that goes with it, whose meaning is up to the two.
    ///   - descriptors: What goes with it; they stay open here, and are the caller's.
    ///   - deadline: When to give up; nil for never. With one that has passed it tries once.
    /// - Throws: ``MessagePortError``; then nothing was sent.
    ///
    /// > Thread safety: any thread. Not in a signal handler.
    public func send(
        _ bytes: RawSpan, id: UInt32 = 0, descriptors: [CInt] = [],
        before deadline: ContinuousClock.Instant? = nil
    ) throws(MessagePortError) {
        Fork.check("RemotePort.send")
        // A thread that ended here would be taken for one that waits, or reads.
        let cancelling = Cancelling.putOff()
        defer { cancelling.goOn() }
        do {
            try connection.send(Frame(kind: .message, id: id), bytes, descriptors, before: deadline)
        } catch { throw error.about(origin) }
    }

    /// Has a handler called on this thread's loop when the connection has ended.
    ///
    /// The port has ended, or its process has, however; or this end has. It is called exactly once, in the common modes; soon,
    /// if the connection has ended already. If the loop ends first, the handler is destroyed with it, on its thread, without
    /// having been called.
    ///
    /// The first wish of this kind in a process starts a thread, which notices the end.
    ///
    /// - Parameters:
    ///   - fileID: Where it is called, for diagnostics.
    ///   - line: Where it is called, for diagnostics.
    ///   - handler: What is called, once.
    /// - Throws: ``/RunLoops/SystemError`` if there is no such thread to be had. Then the handler is not called.
    ///
    /// > Thread safety: any thread; the handler is called on this one. Not in asynchronous code, where the thread may
    /// > change.
    @available(*, noasync, message: "the thread may change at any await; ask in a block on the loop you want")
    public func onInvalidation(
        fileID: StaticString = #fileID, line: Int = #line, _ handler: @escaping () -> Void
    ) throws(SystemError) {
        Fork.check("RemotePort.onInvalidation")
        try connection.watchWithService()
        connection.onInvalidation(EndWatcher(RunLoop.current, SourceLocation(fileID, line), handler))
    }
}

extension RemotePort: CustomStringConvertible {
    /// The name, and which process has it.
    public var description: String { "port \"\(name)\" of \(peer)" }
}
