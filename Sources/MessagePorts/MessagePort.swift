public import RunLoops

/// A port with a name, which other processes of this machine send to: bytes, descriptors, and requests that are replied to.
///
/// It is added to a loop like a ``/RunLoops/Port``, and its handler is called on the loop's thread with each ``Message``. Whoever
/// knows the name makes a ``RemotePort`` and sends.
///
/// ```swift
/// let times = try MessagePort(name: PortName("org.example.times"))
/// try RunLoop.current.add(times, forMode: .common) { message in
///     do { try message.reply(Array("half past seven".utf8)) } catch { print("not told:", error) }
/// }
/// ```
///
/// Messages of one sender arrive in the order in which they were sent. While the port is in no loop, or its loop runs in
/// modes that it is not in, nothing is read: what was sent waits in the kernel, and when there is no room there, the
/// senders wait. While several have sent, each has one message served in turn, so that none keeps out the others.
///
/// Who may send is decided once for each connection, before anything of it is read. What breaks the rules ends the connection
/// that it came on, and is counted: ``statistics``. <doc:PortsBetweenProcesses> tells more.
///
/// The port ends with ``invalidate()``, or when the last reference to it goes; a loop that it is in holds one. Its name
/// is free then.
///
/// > Thread safety: any thread, except that ``onPeerEnd(_:)`` belongs on the thread of the port's loop.
public final class MessagePort: Sendable {
    let core: MessagePortCore

    /// Makes a port, and takes its name.
    ///
    /// From now on others can connect; they are served when the port is in a loop that runs.
    ///
    /// - Parameters:
    ///   - name: What others look up. Nobody else on this machine has it while the port lives.
    ///   - names: Where the name is kept.
    ///   - limits: What the port takes from others.
    ///   - fileID: Where it was made, for diagnostics.
    ///   - line: Where it was made, for diagnostics.
    ///   - admits: Whether a process may send to the port; by default, those of the same user may. Called on the loop's
    ///     thread for each connection.
    /// - Throws: ``MessagePortError/name(_:)`` if the name cannot be had, ``MessagePortError/tooLarge(limit:)`` if no packet
    ///   has room for the body that the limits allow, or ``MessagePortError/system(_:)``. Nothing is left open, and the name is
    ///   as it was.
    ///
    /// > Thread safety: any thread.
    public init(
        name: PortName, in names: PortNames = .user, limits: Limits = Limits(),
        fileID: StaticString = #fileID, line: Int = #line,
        admitting admits: @escaping @Sendable (PeerCredentials) -> Bool = { $0.isOfThisUser }
    ) throws(MessagePortError) {
        core = try MessagePortCore(name, names, limits, SourceLocation(fileID, line), admits)
    }

    deinit { core.close() }

    /// What others look up.
    public var name: PortName { core.name }

    /// What the port takes from others.
    public var limits: Limits { core.limits }

    /// False once the port has ended.
    ///
    /// > Thread safety: any thread; it may end at any moment.
    public var isValid: Bool { !core.isClosed }

    /// What has come so far, and what was turned away.
    ///
    /// > Thread safety: any thread; it may change at any moment.
    public var statistics: Statistics { core.statistics }

    /// Ends the port: its name is free, every connection is closed, and whoever waits for a reply is told that there is none.
    ///
    /// What was sent and not yet served is dropped. On the thread of its loop the port has left the loop when this returns,
    /// and no handler of it starts any more. From another thread, a handler or the filter may still be running; whom it lets in
    /// then is turned away. Either way the name is free when this returns. Again is harmless.
    ///
    /// > Thread safety: any thread.
    public func invalidate() {
        Fork.check("MessagePort.invalidate")
        core.close()
    }

    /// Has a handler called on this thread's loop when the port has ended.
    ///
    /// As ``/RunLoops/Port/onInvalidation(fileID:line:_:)``: exactly once, in the common modes, after the port's end; soon, if it has
    /// ended already.
    ///
    /// - Parameters:
    ///   - fileID: Where it is called, for diagnostics.
    ///   - line: Where it is called, for diagnostics.
    ///   - handler: What is called, once.
    ///
    /// > Thread safety: any thread; the handler is called on this one. Not in asynchronous code, where the thread may
    /// > change.
    @available(*, noasync, message: "the thread may change at any await; ask in a block on the loop you want")
    public func onInvalidation(
        fileID: StaticString = #fileID, line: Int = #line, _ handler: @escaping () -> Void
    ) {
        core.onInvalidation(EndWatcher(RunLoop.current, SourceLocation(fileID, line), handler))
    }

    /// Has a handler called when a sender has gone that was admitted.
    ///
    /// It has closed its end, or has ended, however; or its connection was closed here. All that it has sent was served
    /// before. Asking again replaces the handler. When the port leaves its loop, the loop lets go of the handler; those who
    /// go while the port is in no loop are noticed when it is in one again.
    ///
    /// - Parameter handler: Called on the thread of the loop that the port is in, with who has gone.
    /// - Precondition: The port is in this thread's loop: it was added before. For a port that has ended, and in a loop that
    ///   has, nothing happens, and the handler is let go of.
    ///
    /// > Thread safety: the thread of the loop that the port is in.
    public func onPeerEnd(_ handler: @escaping (Peer) -> Void) { core.onPeerEnd(handler) }
}

extension RunLoop {
    /// Adds a port with a name to a mode, so that its messages are given to a handler.
    ///
    /// Messages from before are delivered too. The loop holds the port until it is removed from its last mode or the loop
    /// ends. Adding it to a mode that it was added to keeps the handler it has there; another mode may have another
    /// handler. A handler may run the loop, which then delivers the next messages inside it.
    ///
    /// - Parameters:
    ///   - port: The port; in no other loop. One that has ended is left alone.
    ///   - mode: The mode, or ``/RunLoops/RunLoop/Mode/common`` for all common modes, now and later.
    ///   - handler: Called on the loop's thread with each message, which is the handler's.
    /// - Throws: ``/RunLoops/SystemError`` if the kernel has no room to watch it. The port is as it was before.
    ///
    /// > Thread safety: the loop's own thread only.
    public func add(
        _ port: MessagePort, forMode mode: Mode, handler: @escaping (consuming MessagePort.Message) -> Void
    ) throws(SystemError) {
        requireOwnThread("RunLoop.add(port)", "perform a block on the loop and add the port there")
        do {
            try port.core.join(self, mode, port: port, deliver: handler)
        } catch { throw error.about(.messagePort(port.name, port.core.origin)) }
    }

    /// Takes a port with a name out of a mode.
    ///
    /// Its messages wait, and so do its senders when there is no room left for more.
    ///
    /// - Parameters:
    ///   - port: The port. One that is not in the mode is left alone.
    ///   - mode: The mode, or ``/RunLoops/RunLoop/Mode/common`` for all common modes.
    ///
    /// > Thread safety: the loop's own thread only.
    public func remove(_ port: MessagePort, forMode mode: Mode) {
        requireOwnThread("RunLoop.remove(port)", "perform a block on the loop and remove the port there")
        port.core.leave(mode)
    }
}

extension MessagePort: CustomStringConvertible {
    /// The port's name, and where it was made.
    public var description: String { "port \"\(name)\" made at \(core.origin)" }
}
