// The end of a loop's thread. `RunLoop.endCurrent` calls these in order.

extension LoopCore {
    /// The thread ends.
    func prepareEnd() {
        // It was cancelled while it asked the kernel: no run can ask again, and so all return at once.
        if poller.isInKernel { runs.requests.insert(.end) }
    }

    /// Calls the handlers that were added for the thread's end.
    func callEndHandlers() { ending.callHandlers(by: members.handlers) }

    /// Takes in nothing any more, and releases everything that is here.
    ///
    /// Objects that are destroyed here may be user code's, which may call the loop again: it finds an ended one.
    ///
    /// - Parameter takeCompanions: Takes out the objects that other modules keep with the loop.
    func end(_ takeCompanions: () -> [AnyObject] = { [] }) {
        racePoint(.ends)
        members.refuseInputs()
        // While others may still send: what these jobs call elsewhere may come back in time.
        runLastJobs()
        let (mail, _) = handle.mailbox.close()
        // A handler may have ended the thread, by `pthread_exit`, or another thread by cancelling it: no run has returned.
        waiting.threadEnds()
        blocks.waits.threadEnds()
        blocks.discardAll(and: mail)
        discardDeferredWork(takeCompanions)
        members.removeAll()
        // Those that came just before the mailbox was closed, and those of tasks that a `deinit` has started.
        runLastJobs()
        readyInputs.end()
        timers.end()
        descriptors.end()
        if mainQueue.queue != nil { mainQueue = .outOfReach }
        racePoint(.hasEnded)
    }

    /// Runs the jobs that actors have left.
    func runLastJobs() { blocks.runLastJobs { takeMail() } }

    private func discardDeferredWork(_ takeCompanions: () -> [AnyObject]) {
        // Taken out first: objects that are released with it may be user code's, and may ask the loop for the same again.
        let works = deferredWork.removeAll()
        let companions = takeCompanions()
        for work in works { work.discardWork() }
        withExtendedLifetime(companions) {}
    }

    /// True if something is here, or on its way, that a loop which ends now never serves.
    func holdsSomething() -> Bool {
        takeMail()
        return !members.inputs.isEmpty || !blocks.isEmpty
    }

    /// Closes the descriptors that the loop has opened; no handler of it is called and no input waits any more.
    ///
    /// By the end of the thread, and not by the last reference: a ``RunLoopThread`` that was joined holds the loop, and so
    /// does for ever the stack of a thread that a handler has ended, or that was cancelled.
    func closeDescriptors() {
        descriptors.close()
        poller.end()
        handle.wakeup.end()
    }
}
