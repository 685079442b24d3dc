extension GracefulStop: RunLoopInput {
    /// Adds the object to a mode of a loop; call ``RunLoop/add(_:forMode:)`` instead.
    ///
    /// While the object is in the mode, it keeps the mode alive.
    ///
    /// - Parameters:
    ///   - loop: The loop; the object must be in no other one.
    ///   - mode: The mode, or ``RunLoop/Mode/common`` for all common modes, present and future.
    /// - Throws: ``SystemError`` if the kernel has no room to watch the signals. The object is unchanged then.
    ///
    /// > Thread safety: the loop's own thread only.
    public func schedule(in loop: RunLoop, forMode mode: RunLoop.Mode) throws(SystemError) {
        guard end.join(loop.handle) else { return }
        var added: [SignalSource] = []
        do {
            for source in sources {
                try loop.add(source, forMode: mode)
                added.append(source)
            }
        } catch {
            for source in added { loop.remove(source, forMode: mode) }
            throw error
        }
        loop.add(timer, forMode: mode)
        // If the loop has ended, it has accepted no source, and must not hold the stop.
        if sources.first?.watch?.membership.loop != nil { link?.held = self }
    }

    /// Removes the object from a mode of a loop; call ``RunLoop/remove(_:forMode:)`` instead.
    ///
    /// The object still owns its signals, and stores the signals that arrive.
    ///
    /// - Parameters:
    ///   - loop: The loop.
    ///   - mode: The mode, or ``RunLoop/Mode/common`` for all common modes. If the object is not in it, nothing happens.
    ///
    /// > Thread safety: any thread: <doc:Ends>.
    public func remove(from loop: RunLoop, forMode mode: RunLoop.Mode) {
        leave(loop) { $0.remove(from: loop, forMode: mode) }
    }

    /// Removes the object from all modes of a loop; call ``RunLoop/remove(_:)`` instead.
    ///
    /// - Parameter loop: The loop. If the object is not in it, nothing happens.
    ///
    /// > Thread safety: any thread: <doc:Ends>.
    public func remove(from loop: RunLoop) {
        leave(loop) { $0.remove(from: loop) }
    }

    private func leave(_ loop: RunLoop, _ remove: (any RunLoopMember) -> Void) {
        for source in sources { remove(source) }
        remove(timer)
        if loop.isCurrent { return letGoIfOut() }
        if !Fork.isChild { loop.handOverRemoval { [self] _ in letGoIfOut() } }
    }

    /// Releases the reference that the loop holds, if this object is in no mode.
    private func letGoIfOut() {
        guard sources.first?.watch?.membership.loop == nil else { return }
        let released = link?.held
        link?.held = nil
        withExtendedLifetime(released) {}
    }
}
