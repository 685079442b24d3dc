extension RunLoop {
    /// Has the loop ask for work at the end of each pass; pending work keeps its modes alive.
    ///
    /// If the loop has ended, the work is discarded.
    ///
    /// - Parameter work: The work, which is asked for until it is removed or the loop ends.
    package func addPassEndWork(_ work: any DeferredWork) {
        let core = core("RunLoop.addPassEndWork", "perform a block on the loop and add it there")
        if core.members.hasEnded { return work.discardWork() }
        core.deferredWork.append(atPassEnd: work)
    }

    /// Has the loop ask for work each time it is about to sleep.
    ///
    /// If the loop has ended, the work is discarded.
    ///
    /// - Parameter work: The work, which is asked for until it is removed or the loop ends.
    package func addIdleWork(_ work: any DeferredWork) {
        let core = core("RunLoop.addIdleWork", "perform a block on the loop and add it there")
        if core.members.hasEnded { return work.discardWork() }
        core.deferredWork.append(whenIdle: work)
    }

    /// Ends the loop's asking for work.
    ///
    /// A step that is under way may ask once more. Calling this twice is harmless.
    ///
    /// - Parameter work: The work. The caller holds it, so that nothing is destroyed in here.
    package func removeDeferredWork(_ work: any DeferredWork) {
        let core = core("RunLoop.removeDeferredWork", "perform a block on the loop and remove it there")
        core.deferredWork.remove(work)
    }
}
