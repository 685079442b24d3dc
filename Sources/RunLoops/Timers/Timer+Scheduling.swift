extension Timer: RunLoopInput {
    /// Adds the timer to a mode of a loop; call ``RunLoop/add(_:forMode:)`` instead.
    ///
    /// - Parameters:
    ///   - loop: The loop; the timer must be in no other one.
    ///   - mode: The mode, or ``RunLoop/Mode/common`` for all common modes, present and future.
    /// - Complexity: O(log *n*) for *n* timers.
    ///
    /// > Thread safety: the loop's own thread only.
    public func schedule(in loop: RunLoop, forMode mode: RunLoop.Mode) {
        let core = loop.core("RunLoop.add(timer)", "perform a block on the loop and add the timer there")
        join(core.timers, of: core.members, mode)
    }
}
