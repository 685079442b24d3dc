public import RunLoops

extension Connection: RunLoopInput {
    /// Adds the connection to a mode of a loop; call `RunLoop.add(_:forMode:)` instead.
    ///
    /// If the connection is not made yet, the loop starts to make it. The loop also handles bytes that the connection has already
    /// received, and sends bytes that were already written. If the connection is in the mode already, or if the connection or the
    /// loop has ended, nothing happens. A change of the loop's mode costs the same for any number of connections.
    ///
    /// - Parameters:
    ///   - loop: The loop. The connection stays on it; adding it to another loop ends the program with a message.
    ///   - mode: The mode, or ``/RunLoops/RunLoop/Mode/common`` for all common modes, present and future.
    /// - Throws: ``/RunLoops/SystemError`` if the kernel has no room to watch the socket (`ENOMEM`, `ENOSPC`), or the process has
    ///   no descriptor left (`EMFILE`). The first connection of each mode needs a descriptor, and so does each connection that is
    ///   not made yet. If the call fails, the connection is not changed.
    ///
    /// > Thread safety: the loop's own thread only.
    public func schedule(in loop: RunLoop, forMode mode: RunLoop.Mode) throws(SystemError) {
        loop.requireOwnThread(
            "RunLoop.add(connection)", "perform a block on the loop and add the connection there")
        wasAdded = true
        if loop.hasEnded { return }
        do { try join(LoopStreams.of(loop), mode) } catch { throw error.about("\(self)") }
    }

    /// Removes the connection from a mode of a loop; call `RunLoop.remove(_:forMode:)` instead.
    ///
    /// After that, while the loop runs in that mode, none of the connection's handlers is called, and its time-outs have no effect.
    /// The connection stays open as long as you hold it. If the loop held the last reference, the socket is closed, and the handler
    /// of ``onEnd(_:)`` is not called.
    ///
    /// - Parameters:
    ///   - loop: The loop.
    ///   - mode: The mode, or ``/RunLoops/RunLoop/Mode/common`` if the connection was added to the common modes. If the connection
    ///     is not in it, nothing happens.
    ///
    /// > Thread safety: any thread ([Ends](../../RunLoops/RunLoops.docc/Ends.md)).
    public func remove(from loop: RunLoop, forMode mode: RunLoop.Mode) {
        loop.remove(end) { [self] in
            if let streams, streams.loop === loop { leave(streams, mode) }
        }
    }

    /// Removes the connection from all modes of a loop; call `RunLoop.remove(_:)` instead.
    ///
    /// - Parameter loop: The loop. If the connection is not in it, nothing happens.
    ///
    /// > Thread safety: any thread ([Ends](../../RunLoops/RunLoops.docc/Ends.md)).
    public func remove(from loop: RunLoop) {
        loop.remove(end) { [self] in
            guard let streams, streams.loop === loop else { return }
            for mode in modes { leave(streams, mode) }
        }
    }
}
