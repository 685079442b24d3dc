extension RunLoop {
    /// Runs a block once at the end of the current pass.
    ///
    /// The block runs after the handlers of the pass, and before the loop sleeps, in any mode. If several handlers of a pass need
    /// the same work, a block can do the work once: for example, write the bytes that the handlers have gathered.
    ///
    /// Blocks run in the order in which they were added. If such a block adds another block, the new block runs at the end of the
    /// next pass, and the loop does not sleep before that pass. If a handler adds a block and then runs the loop, the block runs
    /// in the first pass of that run.
    ///
    /// If the loop is not running, the block waits for the next run, in any mode, and keeps the mode of that run alive for one
    /// pass. If the loop has ended, the block is released at once.
    ///
    /// ```swift
    /// if unsent.isEmpty { RunLoop.current.performAtEndOfPass { connection.flush() } }
    /// unsent += answer
    /// ```
    ///
    /// - Parameter block: The block.
    ///
    /// > Thread safety: the loop's own thread only.
    public func performAtEndOfPass(_ block: @escaping () -> Void) {
        let core = core("RunLoop.performAtEndOfPass", "perform a block on the loop and call this there")
        if core.members.hasEnded { return }
        companion(ObjectIdentifier(PassEndBlocks.self)) { PassEndBlocks() }.add(block, to: core.deferredWork)
    }
}
