public import RunLoops

/// A connection to a ``MessagePort`` of this or another process, with which a program sends messages and requests.
///
/// Any number of threads and tasks may send at the same time. Messages of one thread arrive in the order in which it sent them.
/// Replies arrive in the order in which the port sent them.
///
/// ```swift
/// let times = try RemotePort(named: PortName("org.example.times"))
/// let time = try times.request(before: .now + .seconds(1))
/// print(String(decoding: time.bytes, as: UTF8.self))
/// ```
///
/// When the port or its process ends, the connection ends, too, and every pending request fails. A later port with the same name is
/// another port: make a new `RemotePort`.
///
/// ``init(named:in:before:messageByteLimit:descriptorLimit:fileID:line:)`` blocks its thread while it connects.
/// ``init(connectingTo:in:messageByteLimit:descriptorLimit:fileID:line:)`` never blocks. A `RemotePort` made with it belongs on a
/// loop, and also receives messages from the port: <doc:Pushing>.
///
/// The connection ends with ``invalidate()``, or when the last reference to the `RemotePort` is released.
///
/// > Thread safety: any thread.
public final class RemotePort: Sendable {
    let connection: RemoteConnection

    /// The name of the port.
    public let name: PortName

    /// Looks up a name, connects, and waits until the port admits this process.
    ///
    /// This waits for the port's loop, which has to run in a mode that the port is in. If no port has the name, this throws
    /// immediately.
    ///
    /// - Parameters:
    ///   - name: The port's name.
    ///   - names: The place where the name is kept.
    ///   - deadline: The time to give up, or nil for never.
    ///   - messageByteLimit: The largest number of bytes of a reply; this number is sent to the port as a limit.
    ///   - descriptorLimit: The largest number of descriptors of a reply, up to 253.
    ///   - fileID: The file in which the connection is made, for diagnostics.
    ///   - line: The line in which the connection is made, for diagnostics.
    /// - Throws: ``MessagePortError/Reason/name`` if no port has the name, ``MessagePortError/Reason/notAdmitted`` if the port
    ///   rejects this process, ``MessagePortError/Reason/timedOut`` if the deadline passes,
    ///   ``MessagePortError/Reason/wouldDeadlock`` if this thread serves the port, or another ``MessagePortError``. Nothing is left
    ///   open.
    ///
    /// > Thread safety: any thread, which it blocks.
    public init(
        named name: PortName, in names: PortNames = .user, before deadline: ContinuousClock.Instant? = nil,
        messageByteLimit: Int = 65_536, descriptorLimit: Int = 32,
        fileID: StaticString = #fileID, line: Int = #line
    ) throws(MessagePortError) {
        self.name = name
        connection = try RemotePort.connect(
            "RemotePort.init(named:)", name, names, deadline, messageByteLimit, descriptorLimit,
            SourceLocation(fileID, line), isReadByLoop: false)
    }

    /// Makes a port for a loop to read: looks up a name and begins to connect, without ever blocking.
    ///
    /// Add the port to a loop. When the other port has admitted this process, the connection is complete, and the handler of
    /// ``onConnect(_:)`` is called. If the other port refuses this process, or ends, the handler of ``onEnd(_:)`` is called with
    /// the reason.
    ///
    /// Only the loop reads the replies, and the messages that the other end sends with
    /// ``MessagePort/trySend(_:id:descriptors:to:)-([UInt8],_,_,_)``. So a request of this port gets its reply only while the loop
    /// runs in one of the port's modes, and a request that would block the loop's own thread fails with
    /// ``MessagePortError/Reason/wouldDeadlock``.
    ///
    /// - Parameters:
    ///   - name: The port's name.
    ///   - names: The place where the name is kept.
    ///   - messageByteLimit: The largest number of bytes of a message or reply; this number is sent to the port as a limit.
    ///   - descriptorLimit: The largest number of descriptors of a message or reply, up to 253.
    ///   - fileID: The file in which the connection is made, for diagnostics.
    ///   - line: The line in which the connection is made, for diagnostics.
    /// - Throws: ``MessagePortError/Reason/name`` if no port has the name, ``MessagePortError/Reason/timedOut`` if the kernel has
    ///   no room for another waiting connection (a later attempt can succeed), or another ``MessagePortError``. Nothing is left
    ///   open.
    ///
    /// > Thread safety: any thread.
    public init(
        connectingTo name: PortName, in names: PortNames = .user, messageByteLimit: Int = 65_536,
        descriptorLimit: Int = 32, fileID: StaticString = #fileID, line: Int = #line
    ) throws(MessagePortError) {
        self.name = name
        connection = try RemotePort.connect(
            "RemotePort.init(connectingTo:)", name, names, .distantPast, messageByteLimit, descriptorLimit,
            SourceLocation(fileID, line), isReadByLoop: true)
    }

    private static func connect(
        _ member: StaticString, _ name: PortName, _ names: PortNames, _ deadline: ContinuousClock.Instant?,
        _ largest: Int, _ descriptorLimit: Int, _ origin: SourceLocation, isReadByLoop: Bool
    ) throws(MessagePortError) -> RemoteConnection {
        if !(0...Int(Int32.max)).contains(largest) {
            misuse("\(member): \(largest) is not the size of a message; use 0 to \(Int32.max)")
        }
        if !(0...PacketSocket.mostDescriptors).contains(descriptorLimit) {
            misuse(
                "\(member): a message cannot carry \(descriptorLimit) descriptors; use 0 to \(PacketSocket.mostDescriptors)"
            )
        }
        // If the thread ended here, it would still count as waiting.
        let cancellation = ThreadCancellation.disable()
        defer { cancellation.restore() }
        do {
            return try RemoteConnection(
                name, names, messageByteLimit: largest, descriptors: descriptorLimit, origin: origin,
                before: deadline,
                isReadByLoop: isReadByLoop)
        } catch { throw error.about(RemotePort.origin(name, origin)) }
    }

    deinit { connection.end(MessagePortError(.ended)) }

    /// The origin that this object's errors state: the port's name, and the source location of this connection.
    var origin: String { RemotePort.origin(name, connection.origin) }

    private static func origin(_ name: PortName, _ place: SourceLocation) -> String {
        "remote port \"\(name)\" made at \(place)"
    }

    /// The process that has the port.
    ///
    /// A program that relies on the server checks this: any process can take an abstract name.
    public var peer: PeerCredentials { connection.peer }

    /// The largest number of bytes that the other end accepts in a message; 0 until the other end has admitted this process.
    public var messageByteLimit: Int { Int(connection.limits?.bodyLength ?? 0) }

    /// The largest number of descriptors that the other end accepts in a message; 0 until the other end has admitted this process.
    public var descriptorLimit: Int { Int(connection.limits?.descriptorCount ?? 0) }

    /// False once the connection is known to have ended.
    ///
    /// > Thread safety: any thread. The connection can end at any moment.
    public var isValid: Bool { !connection.isEnded }

    /// The number of replies that arrived after the wait for them had ended.
    ///
    /// A notice that no reply will come is counted, too. All these replies and notices were discarded.
    ///
    /// > Thread safety: any thread. It can change at any moment.
    public var lateReplyCount: Int { connection.lateReplyCount }

    /// Ends the connection: pending requests fail with ``MessagePortError/Reason/ended``, and later attempts to send throw that
    /// error, too.
    ///
    /// Messages that were sent before still arrive. If a loop reads this port, none of its handlers starts after that, except the
    /// handler of ``onEnd(_:)``. A second call does nothing.
    ///
    /// In a forked child this releases the handlers, and the parent's connection continues to work.
    ///
    /// > Thread safety: any thread ([Ends](../../RunLoops/RunLoops.docc/Ends.md)).
    public func invalidate() { connection.invalidate() }

    /// Sends a message.
    ///
    /// The message is sent whole or not at all. This blocks while the port has no room, because the port is not served or is
    /// busy. It also blocks while the kernel has no memory or too many descriptors in flight. Meanwhile, this thread's loop does
    /// not run. When this returns, the kernel has the message, but it is possible that the port has not read it yet.
    ///
    /// - Parameters:
    ///   - bytes: The bytes of the message.
    ///   - id: A number that the message carries. Its meaning is up to the two programs.
    ///   - descriptors: The descriptors to duplicate for the port. They stay open in this process, and the caller still owns them.
    ///   - deadline: The time to give up, or nil for never. If it has passed, this tries once.
    /// - Throws: ``MessagePortError``. Nothing was sent then.
    ///
    /// > Thread safety: any thread. Not in a signal handler.
    public func send(
        _ bytes: [UInt8] = [], id: UInt32 = 0, descriptors: [CInt] = [],
        before deadline: ContinuousClock.Instant? = nil
    ) throws(MessagePortError) {
        // Safe: bytes have no padding.
        try unsafe send(bytes.span.bytes, id: id, descriptors: descriptors, before: deadline)
    }

    /// Sends the bytes of a span, without copying them to an array.
    ///
    /// Otherwise the same as ``send(_:id:descriptors:before:)-([UInt8],_,_,_)``.
    ///
    /// - Parameters:
    ///   - bytes: The bytes of the message.
    ///   - id: A number that the message carries. Its meaning is up to the two programs.
    ///   - descriptors: The descriptors to duplicate for the port. They stay open in this process, and the caller still owns them.
    ///   - deadline: The time to give up, or nil for never. If it has passed, this tries once.
    /// - Throws: ``MessagePortError``. Nothing was sent then.
    ///
    /// > Thread safety: any thread. Not in a signal handler.
    public func send(
        _ bytes: RawSpan, id: UInt32 = 0, descriptors: [CInt] = [],
        before deadline: ContinuousClock.Instant? = nil
    ) throws(MessagePortError) {
        Fork.check("RemotePort.send")
        // If the thread ended here, it would still count as waiting, or as the reader.
        let cancellation = ThreadCancellation.disable()
        defer { cancellation.restore() }
        do {
            try connection.send(Frame(kind: .message, id: id), bytes, descriptors, before: deadline)
        } catch { throw error.about(origin) }
    }

    /// Adds a handler that this thread's loop calls when the connection has ended.
    ///
    /// The connection ends when the port ends, when the port's process ends, or when this side of the connection is closed, for any
    /// reason. The handler is called exactly once, in the common modes. If the connection has ended already, the handler is called
    /// soon. If the loop ends first, the handler is destroyed on the loop's thread, and is not called.
    ///
    /// The first call of this kind in a process starts a thread, which notices the end. If a loop reads this port, that loop
    /// notices the end, and no thread is started.
    ///
    /// - Parameters:
    ///   - fileID: The file of the call, for diagnostics.
    ///   - line: The line of the call, for diagnostics.
    ///   - handler: The handler, which is called once.
    /// - Throws: ``/RunLoops/SystemError`` if the thread that notices the end cannot be started. Then the handler is not called.
    ///
    /// > Thread safety: any thread; the handler is called on the calling thread. Not in asynchronous code, where the thread may
    /// change.
    @available(*, noasync, message: "the thread may change at any await; ask in a block on the loop you want")
    public func addInvalidationHandler(
        fileID: StaticString = #fileID, line: Int = #line, _ handler: @escaping () -> Void
    ) throws(SystemError) {
        Fork.check("RemotePort.addInvalidationHandler")
        try connection.watchWithService()
        connection.addInvalidationHandler(
            LoopCallback(RunLoop.current, SourceLocation(fileID, line), handler))
    }
}

extension RemotePort: CustomStringConvertible {
    /// The name, and the process that has it.
    public var description: String { "port \"\(name)\" of \(peer)" }
}
