public import RunLoops

extension DatagramSocket: RunLoopInput {
    /// Adds the socket to a mode of a loop; call `RunLoop.add(_:forMode:)` instead.
    ///
    /// The loop also handles datagrams that have already arrived, and sends those that were already passed to `send`. If the socket
    /// is in the mode already, or if the socket or the loop has ended, nothing happens. A change of the loop's mode costs the
    /// same for any number of sockets.
    ///
    /// - Parameters:
    ///   - loop: The loop. The socket stays on it; adding it to another loop ends the program with a message.
    ///   - mode: The mode, or ``/RunLoops/RunLoop/Mode/common`` for all common modes, present and future.
    /// - Throws: ``/RunLoops/SystemError`` if the kernel has no room to watch the socket (`ENOMEM`, `ENOSPC`), or the process has
    ///   no descriptor left (`EMFILE`): the first connection, listener or socket of each mode needs a descriptor. If the call
    ///   fails, the socket is not changed.
    ///
    /// > Thread safety: the loop's own thread only.
    public func schedule(in loop: RunLoop, forMode mode: RunLoop.Mode) throws(SystemError) {
        loop.requireOwnThread("RunLoop.add(socket)", "perform a block on the loop and add the socket there")
        if loop.hasEnded { return }
        do { try join(LoopDatagrams.of(loop), mode) } catch { throw error.about("\(self)") }
    }

    /// Removes the socket from a mode of a loop; call `RunLoop.remove(_:forMode:)` instead.
    ///
    /// After that, while the loop runs in that mode, none of the socket's handlers is called, except the one of its end. The socket
    /// stays open as long as you hold it. If the loop held the last reference, the socket is closed, and the handler of
    /// ``onEnd(_:)`` is not called.
    ///
    /// - Parameters:
    ///   - loop: The loop.
    ///   - mode: The mode, or ``/RunLoops/RunLoop/Mode/common`` if the socket was added to the common modes. If the socket is not
    ///     in it, nothing happens.
    ///
    /// > Thread safety: any thread ([Ends](../../RunLoops/RunLoops.docc/Ends.md)).
    public func remove(from loop: RunLoop, forMode mode: RunLoop.Mode) {
        loop.remove(end) { [self] in if isIn(loop) { leave(mode) } }
    }

    /// Removes the socket from all modes of a loop; call `RunLoop.remove(_:)` instead.
    ///
    /// - Parameter loop: The loop. If the socket is not in it, nothing happens.
    ///
    /// > Thread safety: any thread ([Ends](../../RunLoops/RunLoops.docc/Ends.md)).
    public func remove(from loop: RunLoop) {
        loop.remove(end) { [self] in
            if isIn(loop) { for place in places.list { leave(place.group.mode) } }
        }
    }
}
