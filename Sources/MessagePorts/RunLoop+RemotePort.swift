public import RunLoops

// Remote ports on loops.

extension RunLoop {
    /// Adds a remote port to a mode of this loop, with a handler for the messages that the other end sends to the remote port.
    ///
    /// While the loop runs in one of the port's modes, the loop connects the port, reads messages and replies, and calls the port's
    /// handlers.
    /// Until then, messages wait in the kernel and at the other end.
    ///
    /// The loop holds the port until the port is removed from its last mode, the connection ends, or the loop ends. If the port was
    /// added to the mode before, it keeps the handler that it has there. Another mode can have another handler. A handler can run
    /// the loop, which then delivers the next messages inside the handler.
    ///
    /// ```swift
    /// let remote = try RemotePort(connectingTo: PortName("org.example.news"))
    /// try RunLoop.current.add(remote, forMode: .common) { message in print("news:", message.byteCount, "bytes") }
    /// remote.onConnect { remote in print("connected to", remote.peer) }
    /// remote.onEnd { _, error in print("no more news:", error) }
    /// ```
    ///
    /// - Parameters:
    ///   - port: The port, which was made with ``RemotePort/init(connectingTo:in:messageByteLimit:descriptorLimit:fileID:line:)``
    ///     and is in no other loop. A port that has ended is added, too: the loop calls its handler for the end.
    ///   - mode: The mode, or ``/RunLoops/RunLoop/Mode/common`` for all common modes, now and later.
    ///   - handler: Called on the loop's thread with each message, which the handler owns.
    /// - Throws: ``/RunLoops/SystemError`` if the kernel has no room to watch the port. The port is unchanged.
    ///
    /// > Thread safety: the loop's own thread only.
    public func add(
        _ port: RemotePort, forMode mode: Mode, handler: @escaping (consuming MessagePort.Message) -> Void
    ) throws(SystemError) {
        requireOwnThread("RunLoop.add(remote port)", "perform a block on the loop and add the port there")
        do { try port.reading("RunLoop.add(remote port)").join(self, mode, port, handler) } catch {
            throw error.about(port.origin)
        }
    }
}

extension RemotePort: RunLoopMember {
    /// Removes the port from a mode of a loop; call `RunLoop.remove(_:forMode:)` instead.
    ///
    /// Messages and replies wait until the port is in a loop again. When the port leaves its last mode, the loop releases the
    /// port's handlers.
    ///
    /// - Parameters:
    ///   - loop: The loop.
    ///   - mode: The mode, or ``/RunLoops/RunLoop/Mode/common`` for all common modes. If the port is not in it, nothing happens.
    ///
    /// > Thread safety: any thread ([Ends](../../RunLoops/RunLoops.docc/Ends.md)).
    public func remove(from loop: RunLoop, forMode mode: RunLoop.Mode) {
        if Fork.isChild { return }
        let reading = reading("RunLoop.remove(remote port)")
        loop.remove { reading.leave(mode) }
    }

    /// Removes the port from all modes of a loop; call `RunLoop.remove(_:)` instead.
    ///
    /// - Parameter loop: The loop. If the port is not in it, nothing happens.
    ///
    /// > Thread safety: any thread ([Ends](../../RunLoops/RunLoops.docc/Ends.md)).
    public func remove(from loop: RunLoop) {
        if Fork.isChild { return }
        let reading = reading("RunLoop.remove(remote port)")
        loop.remove { reading.leaveAll() }
    }
}

extension RemotePort {
    /// True once the port has admitted this process, even if the connection has ended since.
    ///
    /// > Thread safety: any thread.
    public var isConnected: Bool { connection.wasAdmitted }

    /// Sends a message if there is room for it now, without ever blocking.
    ///
    /// The message is sent whole or not at all. If this returns true, the kernel has the message, but the port may not have read it
    /// yet. If this returns false, nothing was sent: the port has no room, the kernel is out of resources, or the connection is not
    /// complete yet. If a loop reads this port, the handler of ``onRoom(_:)`` is called when there may be room.
    ///
    /// - Parameters:
    ///   - bytes: The bytes of the message.
    ///   - id: A number that the message carries. Its meaning is up to the two programs.
    ///   - descriptors: The descriptors to duplicate for the port. They stay open in this process, and the caller still owns them.
    /// - Returns: False if there is no room. Nothing was sent then.
    /// - Throws: ``MessagePortError``. Nothing was sent then.
    ///
    /// > Thread safety: any thread. Not in a signal handler.
    public func trySend(
        _ bytes: [UInt8] = [], id: UInt32 = 0, descriptors: [CInt] = []
    ) throws(MessagePortError) -> Bool {
        // Safe: bytes have no padding.
        try unsafe trySend(bytes.span.bytes, id: id, descriptors: descriptors)
    }

    /// Sends the bytes of a span if there is room for them now, without ever blocking.
    ///
    /// Otherwise the same as ``trySend(_:id:descriptors:)-([UInt8],_,_)``.
    ///
    /// - Parameters:
    ///   - bytes: The bytes of the message.
    ///   - id: A number that the message carries. Its meaning is up to the two programs.
    ///   - descriptors: The descriptors to duplicate for the port. They stay open in this process, and the caller still owns them.
    /// - Returns: False if there is no room. Nothing was sent then.
    /// - Throws: ``MessagePortError``. Nothing was sent then.
    ///
    /// > Thread safety: any thread. Not in a signal handler.
    public func trySend(
        _ bytes: RawSpan, id: UInt32 = 0, descriptors: [CInt] = []
    ) throws(MessagePortError) -> Bool {
        Fork.check("RemotePort.trySend")
        // If the thread ended here, the loop might never be asked to report room.
        let cancellation = ThreadCancellation.disable()
        defer { cancellation.restore() }
        do { return try connection.trySend(Frame(kind: .message, id: id), bytes, descriptors) } catch {
            throw error.about(origin)
        }
    }

    /// Sets the handler that is called when the port has admitted this process.
    ///
    /// The handler is called once. If the port has admitted this process already, the handler is called soon. Calling this again
    /// replaces the handler. When the port leaves its loop, the loop releases the handler.
    ///
    /// - Parameter handler: Called on the thread of the loop that the port is in, with the port.
    /// - Precondition: The port is in this thread's loop; add it first. If the port has left the loop because the connection or the
    ///   loop has ended, this does nothing and releases the handler.
    ///
    /// > Thread safety: the thread of the loop that the port is in.
    public func onConnect(_ handler: @escaping (RemotePort) -> Void) {
        setHandler("RemotePort.onConnect", \.connected, handler)
    }

    /// Sets the handler that is called when there may be room for a message again.
    ///
    /// After a call of ``trySend(_:id:descriptors:)-([UInt8],_,_)`` on any thread has found no room, the handler is called when
    /// there may be room. Several failed calls can lead to a single call of the handler. Calling this again replaces the handler.
    /// When the port leaves its loop, the loop releases the handler.
    ///
    /// - Parameter handler: Called on the thread of the loop that the port is in, with the port.
    /// - Precondition: The port is in this thread's loop; add it first. If the port has left the loop because the connection or the
    ///   loop has ended, this does nothing and releases the handler.
    ///
    /// > Thread safety: the thread of the loop that the port is in.
    public func onRoom(_ handler: @escaping (RemotePort) -> Void) {
        setHandler("RemotePort.onRoom", \.hasRoom, handler)
    }

    /// Sets the handler that is called when the connection has ended, with the reason.
    ///
    /// The handler is called once, when all messages that arrived before the end were delivered and the port has left the loop. The
    /// reason is ``MessagePortError/Reason/notAdmitted`` if the filter of the other port has rejected this process,
    /// ``MessagePortError/Reason/ended`` if the other port, its process or this end has ended, or another error. Calling this again
    /// replaces the handler. If the port is removed from its loop, the loop releases the handler without calling it.
    ///
    /// - Parameter handler: Called on the thread of the loop that the port was in, with the port and the reason.
    /// - Precondition: The port is in this thread's loop; add it first. If the port has left the loop because the connection or the
    ///   loop has ended, this does nothing and releases the handler.
    ///
    /// > Thread safety: the thread of the loop that the port is in.
    public func onEnd(_ handler: @escaping (RemotePort, MessagePortError) -> Void) {
        setHandler("RemotePort.onEnd", \.ended, handler)
    }

    /// The number of messages that the other end has sent to a port that no loop reads.
    ///
    /// A port made with ``init(named:in:before:messageByteLimit:descriptorLimit:fileID:line:)`` is read by the threads and tasks
    /// that wait for replies. It has no handler for messages, so messages to it are discarded.
    ///
    /// > Thread safety: any thread. The value can change at any moment.
    public var discardedMessageCount: Int { connection.discardedMessageCount }

    private func setHandler<Handler>(
        _ member: StaticString, _ place: ReferenceWritableKeyPath<RemotePortInput, Handler?>,
        _ handler: Handler
    ) {
        reading(member).setHandler(member, place, handler, hasEnded: connection.isEnded)
    }

    /// Returns the connection's state for reading in a loop.
    ///
    /// Only a connection that was made for a loop has this state. For any other connection, the program ends with a message.
    ///
    /// - Parameter member: The public function that the program has called, for the message about a misuse.
    /// - Returns: The state.
    fileprivate func reading(_ member: StaticString) -> LoopReading {
        Fork.check(member)
        guard let reading = connection.reading else {
            misuse(
                "\(member): the port made at \(connection.origin) is read by the threads that send requests; make it with RemotePort(connectingTo:) to have a loop read it"
            )
        }
        return reading
    }
}
