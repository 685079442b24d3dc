public import RunLoops

extension RunLoop {
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
            throw error.about("\(listener)")
        }
    }
}

extension Listener: RunLoopMember {
    /// Removes the listener from a mode of a loop; call `RunLoop.remove(_:forMode:)` instead.
    ///
    /// After that, while the loop runs in that mode, the listener accepts nothing, and connections wait in the backlog.
    ///
    /// - Parameters:
    ///   - loop: The loop.
    ///   - mode: The mode, or ``/RunLoops/RunLoop/Mode/common`` if the listener was added to the common modes. If the listener is
    ///     not in it, nothing happens.
    ///
    /// > Thread safety: any thread ([Ends](../../RunLoops/RunLoops.docc/Ends.md)).
    public func remove(from loop: RunLoop, forMode mode: RunLoop.Mode) {
        loop.remove(end) { [self] in
            if let streams, streams.loop === loop { leave(streams, mode) }
        }
    }

    /// Removes the listener from all modes of a loop; call `RunLoop.remove(_:)` instead.
    ///
    /// - Parameter loop: The loop. If the listener is not in it, nothing happens.
    ///
    /// > Thread safety: any thread ([Ends](../../RunLoops/RunLoops.docc/Ends.md)).
    public func remove(from loop: RunLoop) {
        loop.remove(end) { [self] in
            guard let streams, streams.loop === loop else { return }
            for place in places.list { leave(streams, place.group.mode) }
        }
    }
}
