// A guest is a loop that another main loop of its thread serves. That main loop waits for both loops.

extension LoopCore {
    /// Makes one pass of this loop without waiting.
    ///
    /// Use this for a guest: a loop that another main loop of its thread serves.
    ///
    /// - Parameters:
    ///   - mode: The mode.
    ///   - servesIdleWork: True if the pass does the idle work when it finds no other work.
    func serveGuest(in mode: Mode, servesIdleWork: Bool) {
        // The kernel is polled first, so that the pass finds the ready inputs, and the descriptor is no longer readable.
        poller.poll()
        handle.counters.kernelCalls.add()
        now = Moment.now()
        mainQueue.queue?.kernelWasAsked(at: now)
        waiting.guestIsIdle = false
        let options: Activation.Options = servesIdleWork ? .isGuest : [.isGuest, .leavesIdleWork]
        _ = run(Activation(mode: mode, deadline: .never, options: options))
    }

    /// Prepares this guest loop for the next wait of the main loop that serves it.
    ///
    /// - Parameters:
    ///   - mode: The mode.
    ///   - servesIdleWork: True if idle work counts as work.
    /// - Returns: True if this loop has work already. If not, the mailbox is armed and the alarm is set, so that new work makes the
    ///   loop's descriptor readable.
    func prepareGuest(in mode: Mode, servesIdleWork: Bool) -> Bool {
        changeMode(to: mode)
        defer { changeMode(to: nil) }
        descriptors.watch()
        if guestHasWork(servesIdleWork) { return true }
        handle.counters.kernelCalls.add(poller.setAlarm(min(timers.nextWake, descriptors.nextRetry)))
        // The next mail of an armed mailbox makes the descriptor readable. If mail has already arrived, arming fails.
        return !handle.mailbox.arm()
    }

    private func guestHasWork(_ servesIdleWork: Bool) -> Bool {
        takeMail()
        // The mode is empty, or the loop has ended.
        if isFinished || runs.requests.contains(.end) { return false }
        if !isQuiet(until: .never) { return true }
        if servesIdleWork && deferredWork.isReadyWhenIdle { return true }
        return !waiting.guestIsIdle && observers.activities.contains(.beforeWaiting)
    }
}
