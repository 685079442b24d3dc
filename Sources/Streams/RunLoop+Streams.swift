public import RunLoops

extension RunLoop {
    /// Adds a connection to a mode.
    ///
    /// If the connection is not made yet, the loop starts to make it. The loop also handles bytes that the connection has already
    /// received, and sends bytes that were already written. The loop holds the connection until the connection ends or is removed
    /// from its last mode. If the connection is in the mode already, or if the connection or the loop has ended, nothing happens.
    ///
    /// A change of the loop's mode costs the same for any number of connections.
    ///
    /// - Parameters:
    ///   - connection: The connection. It stays on this loop; adding it to another loop ends the program with a message.
    ///   - mode: The mode, or ``/RunLoops/RunLoop/Mode/common`` for all common modes, present and future.
    /// - Throws: ``/RunLoops/SystemError`` if the kernel has no room to watch the socket (`ENOMEM`, `ENOSPC`), or the process has
    ///   no descriptor left (`EMFILE`). The first connection of each mode needs a descriptor, and so does each connection that is
    ///   not made yet. If the call fails, the connection is not changed.
    ///
    /// > Thread safety: the loop's own thread only.
    public func add(_ connection: Connection, forMode mode: Mode) throws(SystemError) {
        requireOwnThread(
            "RunLoop.add(connection)", "perform a block on the loop and add the connection there")
        if hasEnded { return }
        do { try connection.join(LoopStreams.of(self), mode) } catch {
            throw error.about(.unnamed("", "\(connection)"))
        }
    }

    /// Removes a connection from a mode.
    ///
    /// After that, while the loop runs in that mode, none of the connection's handlers is called, and its time-outs have no effect.
    /// The connection stays open as long as you hold it. If the loop held the last reference, the socket is closed, and the handler
    /// of ``Connection/onEnd(_:)`` is not called.
    ///
    /// - Parameters:
    ///   - connection: The connection. If it is not in the mode, nothing happens.
    ///   - mode: The mode, or ``/RunLoops/RunLoop/Mode/common`` if the connection was added to the common modes.
    ///
    /// > Thread safety: the loop's own thread only.
    public func remove(_ connection: Connection, forMode mode: Mode) {
        requireOwnThread(
            "RunLoop.remove(connection)", "perform a block on the loop and remove the connection there")
        if let streams = connection.streams, streams.loop === self { connection.leave(streams, mode) }
    }

    /// Adds a listener to a mode, and sets its handler.
    ///
    /// Connections that already wait in the backlog are accepted, too. The loop holds the listener until the listener is
    /// invalidated or removed from its last mode. A listener has one handler: adding the listener again, to this mode or another
    /// one, replaces the handler in all its modes.
    ///
    /// - Parameters:
    ///   - listener: The listener. It stays on this loop; adding it to another loop ends the program with a message.
    ///   - mode: The mode, or ``/RunLoops/RunLoop/Mode/common`` for all common modes, present and future.
    ///   - handler: Called on the loop's thread with each accepted socket. A socket that the handler does not keep is closed.
    /// - Throws: ``/RunLoops/SystemError`` if the kernel has no room to watch the socket, or the process has no descriptor left. If
    ///   the call fails, the listener is not changed.
    ///
    /// > Thread safety: the loop's own thread only.
    public func add(
        _ listener: Listener, forMode mode: Mode, handler: @escaping (consuming AcceptedSocket) -> Void
    ) throws(SystemError) {
        requireOwnThread("RunLoop.add(listener)", "perform a block on the loop and add the listener there")
        if hasEnded { return }
        do { try listener.join(LoopStreams.of(self), mode, handler) } catch {
            throw error.about(.unnamed("", "\(listener)"))
        }
    }

    /// Removes a listener from a mode.
    ///
    /// After that, while the loop runs in that mode, the listener accepts nothing, and connections wait in the backlog.
    ///
    /// - Parameters:
    ///   - listener: The listener. If it is not in the mode, nothing happens.
    ///   - mode: The mode, or ``/RunLoops/RunLoop/Mode/common`` if the listener was added to the common modes.
    ///
    /// > Thread safety: the loop's own thread only.
    public func remove(_ listener: Listener, forMode mode: Mode) {
        requireOwnThread(
            "RunLoop.remove(listener)", "perform a block on the loop and remove the listener there")
        if let streams = listener.streams, streams.loop === self { listener.leave(streams, mode) }
    }
}
