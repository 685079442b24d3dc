extension ManualSource: RunLoopInput {
    /// Adds the source to a mode of a loop; call ``RunLoop/add(_:forMode:)`` instead.
    ///
    /// The loop also serves a signal that arrived before.
    ///
    /// - Parameters:
    ///   - loop: The loop; the source must be in no other one.
    ///   - mode: The mode, or ``RunLoop/Mode/common`` for all common modes, present and future.
    ///
    /// > Thread safety: the loop's own thread only.
    public func schedule(in loop: RunLoop, forMode mode: RunLoop.Mode) {
        let core = loop.core("RunLoop.add(source)", "perform a block on the loop and add the source there")
        join(core.readyInputs, mode)
    }
}
