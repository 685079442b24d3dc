// The end of a loop's thread. `RunLoop.endCurrent` calls these in order.

extension LoopCore {
    /// Prepares the loop for the end of its thread.
    func prepareEnd() {
        // The thread was cancelled while it polled the kernel. No run can poll again, so all runs return immediately.
        if poller.isInKernel { runs.requests.insert(.end) }
    }

    /// Calls the handlers that were added for the end of the thread.
    func callEndHandlers() { ending.callHandlers(by: members.handlers) }

    /// Refuses new inputs and messages from now on, and releases all objects that the loop holds.
    ///
    /// The release can destroy objects of the user. Their `deinit` can call the loop, although the loop has already ended.
    ///
    /// - Parameter takeCompanions: A function that removes and returns the companions: the objects that other modules attach to
    ///   the loop for its thread.
    func end(_ takeCompanions: () -> [AnyObject] = { [] }) {
        racePoint(.ends)
        // The main loop has messages of its own.
        let isForgotten = hasNeverRun && !mainQueue.isOfMainThread
        if isForgotten { members.takeHandOvers() }
        members.refuseInputs()
        var unserved = isForgotten ? unservedInputs : []
        // The jobs run while other threads can still send, so that an answer to these jobs can arrive in time.
        runLastJobs()
        let (mail, _) = handle.mailbox.close()
        // If a handler ended the thread with `pthread_exit`, or another thread cancelled it, no run has returned.
        waiting.threadEnds()
        blocks.waits.threadEnds()
        blocks.discardAll(and: mail) { if isForgotten { unserved.append($0) } }
        LoopCore.reportUnserved(unserved)
        // What was handed over takes effect while the parts of other modules still report ends.
        members.takeHandOvers()
        discardDeferredWork(takeCompanions)
        members.removeAll()
        members.closeHandOvers()
        // These are the jobs that arrived just before the mailbox was closed, and the jobs of tasks that a `deinit` has started.
        runLastJobs()
        readyInputs.end()
        timers.end()
        descriptors.end()
        if mainQueue.queue != nil { mainQueue = .outOfReach }
        racePoint(.hasEnded)
    }

    /// Runs the remaining jobs of actors; jobs of tasks that only prefer the loop are enqueued on the default executor.
    func runLastJobs() { blocks.runLastJobs { takeMail() } }

    private func discardDeferredWork(_ takeCompanions: () -> [AnyObject]) {
        // The work is removed from the list before it is released, because the release can destroy objects of the user that call
        // the loop again.
        let works = deferredWork.removeAll()
        let companions = takeCompanions()
        for work in works { work.discardWork() }
        withExtendedLifetime(companions) {}
    }

    /// Returns true if the loop holds an input, a block, a parcel or a job, which an end now would leave unserved.
    func holdsSomething() -> Bool {
        takeMail()
        return !members.inputs.isEmpty || !blocks.isEmpty
    }

    /// Closes the descriptors that the loop has opened.
    ///
    /// Call this after the loop's last handler has returned and its last input has left.
    ///
    /// The descriptors are closed when the thread ends. They do not stay open until the last reference to the loop is released,
    /// because that release can be much later: a joined ``RunLoopThread`` still holds the loop. If the thread was cancelled, or
    /// was ended by a handler, the thread's stack holds the loop forever.
    func closeDescriptors() {
        descriptors.close()
        poller.end()
        handle.wakeup.end()
    }
}
