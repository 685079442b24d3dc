public import RunLoops

/// A port with a name, to which other processes of this machine send bytes, descriptors, and requests.
///
/// You add it to a loop like a ``/RunLoops/Port``, and its handler is called on the loop's thread with each ``Message``. A process
/// that knows the name makes a ``RemotePort`` to send to it.
///
/// ```swift
/// let times = try MessagePort(named: PortName("org.example.times"))
/// try RunLoop.current.add(times, forMode: .common) { message in
///     do { try message.reply(Array("half past seven".utf8)) } catch { print("no reply:", error) }
/// }
/// ```
///
/// Messages of one sender arrive in the order in which they were sent. A port reads only while its loop runs in one of the port's
/// modes. Until then, messages wait in the kernel, and if the kernel has no room for more, their senders block. If several senders
/// have messages waiting, the port serves one message of each in turn, so that no sender keeps out the others.
///
/// The filter decides once for each connection whether the sender is admitted, before anything is read from the connection. A
/// packet that breaks the rules ends its connection, and is counted in ``statistics``. <doc:PortsBetweenProcesses> and
/// <doc:UntrustedPeers> say more.
///
/// The port ends with ``invalidate()``, or when the last reference to it is released. The port's loop holds a reference. When the
/// port has ended, its name is free.
///
/// The port can also send messages to peers from which it has received messages: see
/// ``trySend(_:id:descriptors:to:)-([UInt8],_,_,_)`` and <doc:Pushing>.
///
/// > Thread safety: any thread, except that handlers are set on the thread of the port's loop.
public final class MessagePort: Sendable {
    let core: MessagePortCore

    /// Makes a port, and takes its name.
    ///
    /// Other processes can connect after this returns. They are served when the port is in a loop that runs.
    ///
    /// - Parameters:
    ///   - name: The name that other processes look up. No other port on this machine has it while this port exists.
    ///   - names: The place where the name is kept.
    ///   - options: The limits of what the port accepts, and its time-outs.
    ///   - fileID: The file in which the port is made, for diagnostics.
    ///   - line: The line in which the port is made, for diagnostics.
    ///   - admits: The filter, which returns true if a process may send to the port. The default admits processes of the same user.
    ///     The filter is called on the loop's thread for each connection.
    /// - Throws: ``MessagePortError/Reason/name`` if the name cannot be taken, ``MessagePortError/Reason/tooLarge`` if the limits
    ///   allow a body that does not fit in a packet, or ``MessagePortError/Reason/system``. Nothing is left open, and the name is
    ///   unchanged.
    ///
    /// > Thread safety: any thread.
    public init(
        named name: PortName, in names: PortNames = .user, options: Options = Options(),
        fileID: StaticString = #fileID, line: Int = #line,
        admitting admits: @escaping @Sendable (PeerCredentials) -> Bool = { $0.isOfThisUser }
    ) throws(MessagePortError) {
        let origin = SourceLocation(fileID, line)
        do { core = try MessagePortCore(name, names, options, origin, admits) } catch {
            throw error.about(MessagePort.origin(name, origin))
        }
    }

    deinit { core.close() }

    /// The text with which the errors of a port name it.
    static func origin(_ name: PortName, _ place: SourceLocation) -> String {
        "message port \"\(name)\" made at \(place)"
    }

    /// The name that other processes look up.
    public var name: PortName { core.name }

    /// The limits of what the port accepts, and its time-outs.
    public var options: Options { core.limits }

    /// False once the port has ended.
    ///
    /// > Thread safety: any thread. The port can end at any moment.
    public var isValid: Bool { !core.isClosed }

    /// The counts of the port's messages, connections and peers so far, including those that were refused.
    ///
    /// > Thread safety: any thread. They can change at any moment.
    public var statistics: Statistics { core.statistics }

    /// Ends the port: its name is free, every connection is closed, and every pending request fails.
    ///
    /// Messages that were sent and not yet served are discarded. If you call this on the thread of the port's loop, the port has
    /// left the loop when this returns. If you call it on another thread, the port leaves the loop in the loop's next pass, and a
    /// handler or the filter may still be running. If the filter then admits a process, the port refuses the process nevertheless.
    /// In both cases the name is free when this returns, and none of the port's handlers starts after that. A second call does
    /// nothing.
    ///
    /// In a forked child this closes the child's copies of the descriptors, and the parent's port continues to work.
    ///
    /// > Thread safety: any thread ([Ends](../../RunLoops/RunLoops.docc/Ends.md)).
    public func invalidate() { core.close() }

    /// Adds a handler that this thread's loop calls when the port has ended.
    ///
    /// The same as ``/RunLoops/Port/addInvalidationHandler(fileID:line:_:)``: the handler is called exactly once, in the common
    /// modes, after the port's end. If the port has ended already, the handler is called soon.
    ///
    /// - Parameters:
    ///   - fileID: The file of the call, for diagnostics.
    ///   - line: The line of the call, for diagnostics.
    ///   - handler: The handler, which is called once.
    ///
    /// > Thread safety: any thread; the handler is called on the thread that calls this method. Not in asynchronous code, where
    /// the thread may change.
    @available(*, noasync, message: "the thread may change at any await; ask in a block on the loop you want")
    public func addInvalidationHandler(
        fileID: StaticString = #fileID, line: Int = #line, _ handler: @escaping () -> Void
    ) {
        core.addInvalidationHandler(LoopCallback(RunLoop.current, SourceLocation(fileID, line), handler))
    }
}

extension RunLoop {
    /// Adds a message port to a mode of this loop, with a handler for the port's messages.
    ///
    /// Messages that were sent earlier are delivered, too. The loop holds the port until the port is removed from its last mode or
    /// the loop ends. If the port was added to the mode before, it keeps the handler that it has there. Another mode can have
    /// another handler. A handler can run the loop, which then delivers the next messages inside the handler.
    ///
    /// - Parameters:
    ///   - port: The port, which is in no other loop. A port that has ended is not added.
    ///   - mode: The mode, or ``/RunLoops/RunLoop/Mode/common`` for all common modes, now and later.
    ///   - handler: Called on the loop's thread with each message, which the handler owns.
    /// - Throws: ``/RunLoops/SystemError`` if the kernel has no room to watch the port. The port is unchanged.
    ///
    /// > Thread safety: the loop's own thread only.
    public func add(
        _ port: MessagePort, forMode mode: Mode, handler: @escaping (consuming MessagePort.Message) -> Void
    ) throws(SystemError) {
        requireOwnThread("RunLoop.add(port)", "perform a block on the loop and add the port there")
        do {
            try port.core.join(self, mode, port: port, deliver: handler)
        } catch { throw error.about(MessagePort.origin(port.name, port.core.origin)) }
    }
}

extension MessagePort: RunLoopMember {
    /// Removes the port from a mode of a loop; call `RunLoop.remove(_:forMode:)` instead.
    ///
    /// Messages to a port that is in no mode wait in the kernel, and their senders block when the kernel has no more room.
    ///
    /// - Parameters:
    ///   - loop: The loop.
    ///   - mode: The mode, or ``/RunLoops/RunLoop/Mode/common`` for all common modes. If the port is not in it, nothing happens.
    ///
    /// > Thread safety: any thread ([Ends](../../RunLoops/RunLoops.docc/Ends.md)).
    public func remove(from loop: RunLoop, forMode mode: RunLoop.Mode) {
        loop.remove { [core] in core.leave(mode) }
    }

    /// Removes the port from all modes of a loop; call `RunLoop.remove(_:)` instead.
    ///
    /// - Parameter loop: The loop. If the port is not in it, nothing happens.
    ///
    /// > Thread safety: any thread ([Ends](../../RunLoops/RunLoops.docc/Ends.md)).
    public func remove(from loop: RunLoop) {
        loop.remove { [core] in core.leaveAll() }
    }
}

extension MessagePort: CustomStringConvertible {
    /// The port's name, and the source location at which the port was made.
    public var description: String { "port \"\(name)\" made at \(core.origin)" }
}
