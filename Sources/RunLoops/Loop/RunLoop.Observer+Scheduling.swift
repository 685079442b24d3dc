extension RunLoop.Observer: RunLoopInput {
    /// Adds the observer to a mode of a loop; call ``RunLoop/add(_:forMode:)`` instead.
    ///
    /// - Parameters:
    ///   - loop: The loop; the observer must be in no other one.
    ///   - mode: The mode, or ``RunLoop/Mode/common`` for all common modes, present and future.
    ///
    /// > Thread safety: the loop's own thread only.
    public func schedule(in loop: RunLoop, forMode mode: RunLoop.Mode) {
        let core = loop.core(
            "RunLoop.add(observer)", "perform a block on the loop and add the observer there")
        join(core.observers, mode)
    }
}
