extension RunLoop {
    /// Adds work that the loop does at the end of each pass.
    ///
    /// Pending work keeps alive the modes in which it may be done. If the loop has ended, the work is discarded.
    ///
    /// - Parameter work: The work, which stays added until it is removed or the loop ends.
    package func addPassEndWork(_ work: any DeferredWork) {
        let core = core("RunLoop.addPassEndWork", "perform a block on the loop and add it there")
        if core.members.hasEnded { return work.discardWork() }
        core.deferredWork.append(atPassEnd: work)
    }

    /// Adds work that the loop does each time it is about to sleep.
    ///
    /// If the loop has ended, the work is discarded.
    ///
    /// - Parameter work: The work, which stays added until it is removed or the loop ends.
    package func addIdleWork(_ work: any DeferredWork) {
        let core = core("RunLoop.addIdleWork", "perform a block on the loop and add it there")
        if core.members.hasEnded { return work.discardWork() }
        core.deferredWork.append(whenIdle: work)
    }

    /// Removes work that was added with ``addPassEndWork(_:)`` or ``addIdleWork(_:)``.
    ///
    /// If the loop is doing its deferred work during this call, it can still do the removed work once. A second call does nothing.
    ///
    /// - Parameter work: The work. The caller holds it, so that this call does not destroy it.
    package func removeDeferredWork(_ work: any DeferredWork) {
        let core = core("RunLoop.removeDeferredWork", "perform a block on the loop and remove it there")
        core.deferredWork.remove(work)
    }
}
