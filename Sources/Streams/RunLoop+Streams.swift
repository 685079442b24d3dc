public import RunLoops

extension RunLoop {
    /// Adds a connection to a mode.
    ///
    /// What was received before is handled, what was written before is sent, and a connection that is not made yet begins to be
    /// made. The loop holds the connection until it ends, or is removed from its last mode. If the connection is in the mode
    /// already, or has ended, nothing happens.
    ///
    /// A change of the loop's mode costs the same for any number of connections.
    ///
    /// - Parameters:
    ///   - connection: The connection. It stays on this loop: no other loop can have it later.
    ///   - mode: The mode, or ``/RunLoops/RunLoop/Mode/common`` for all common modes, present and future.
    /// - Throws: ``/RunLoops/SystemError`` if the kernel has no room to watch the socket (`ENOMEM`, `ENOSPC`), or the process has
    ///   no descriptor left, of which each mode needs one for its first connection (`EMFILE`). The connection is as it was before.
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

    /// Takes a connection out of a mode.
    ///
    /// No handler of it is called in that mode afterwards, and its time-outs do not end it there. It stays open as long as you
    /// hold it: if the loop held the last reference, the socket is closed, and ``Connection/onEnd(_:)`` is not called.
    ///
    /// - Parameters:
    ///   - connection: The connection. If it is not in the mode, nothing happens.
    ///   - mode: The mode, or ``/RunLoops/RunLoop/Mode/common`` if it was added to that.
    ///
    /// > Thread safety: the loop's own thread only.
    public func remove(_ connection: Connection, forMode mode: Mode) {
        requireOwnThread(
            "RunLoop.remove(connection)", "perform a block on the loop and remove the connection there")
        if let streams = connection.streams, streams.loop === self { connection.leave(streams, mode) }
    }

    /// Adds a listener to a mode, and sets its handler.
    ///
    /// Connections that wait in the backlog are accepted, too. The loop holds the listener until it is invalidated, or removed
    /// from its last mode. If the listener is in the mode already, it only gets the new handler.
    ///
    /// - Parameters:
    ///   - listener: The listener. It stays on this loop.
    ///   - mode: The mode, or ``/RunLoops/RunLoop/Mode/common`` for all common modes, present and future.
    ///   - handler: Called on the loop's thread with each accepted socket. One that it does not keep is closed.
    /// - Throws: ``/RunLoops/SystemError`` if the kernel has no room to watch the socket, or the process has no descriptor left.
    ///   The listener is as it was before.
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

    /// Takes a listener out of a mode.
    ///
    /// It accepts nothing in that mode afterwards: connections wait in the backlog.
    ///
    /// - Parameters:
    ///   - listener: The listener. If it is not in the mode, nothing happens.
    ///   - mode: The mode, or ``/RunLoops/RunLoop/Mode/common`` if it was added to that.
    ///
    /// > Thread safety: the loop's own thread only.
    public func remove(_ listener: Listener, forMode mode: Mode) {
        requireOwnThread(
            "RunLoop.remove(listener)", "perform a block on the loop and remove the listener there")
        if let streams = listener.streams, streams.loop === self { listener.leave(streams, mode) }
    }
}
