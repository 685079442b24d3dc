extension RunLoop {
    /// Runs a block once at the end of the current pass.
    ///
    /// The block runs after the handlers of the pass, and before the loop sleeps, in whatever mode runs then. So work that several
    /// handlers of a pass cause can be done once for all of them, such as writing what they have gathered. Blocks run in the
    /// order in which they were added. A block that is added while they run waits for the end of the next pass, before which the
    /// loop does not sleep. If a handler adds a block and then runs the loop, the block runs in the first pass of that run.
    ///
    /// If no run is on, the block waits for the next run, in any mode, and keeps its mode alive for a pass. If the loop has
    /// ended, the block is released at once.
    ///
    /// ```swift
    /// if unsent.isEmpty { RunLoop.current.atEndOfPass { connection.flush() } }
    /// unsent += answer
    /// ```
    ///
    /// - Parameter block: The block.
    ///
    /// > Thread safety: the loop's own thread only.
    public func atEndOfPass(_ block: @escaping () -> Void) {
        let core = core("RunLoop.atEndOfPass", "perform a block on the loop and call this there")
        if core.members.hasEnded { return }
        companion(ObjectIdentifier(PassEndBlocks.self)) { PassEndBlocks() }.add(block, to: core.deferredWork)
    }
}
