// A guest is a loop that another main loop of its thread serves. That main loop waits for both.

extension LoopCore {
    /// Makes one pass, without waiting.
    ///
    /// - Parameters:
    ///   - mode: The mode.
    ///   - servesIdleWork: True if a pass that finds no other work does the work that waits for the loop to be idle.
    func serveGuest(in mode: RunLoop.Mode, servesIdleWork: Bool) {
        // Polled first, so that the pass knows which inputs are ready, and so that the descriptor is no longer readable.
        poller.poll()
        handle.counters.kernelCalls.add()
        now = Moment.now()
        mainQueue.queue?.kernelWasAsked(at: now)
        waiting.guestIsIdle = false
        let options: Activation.Options = servesIdleWork ? .isGuest : [.isGuest, .leavesIdleWork]
        _ = run(Activation(mode: mode, deadline: .never, options: options))
    }

    /// Lets other threads, the alarm and the kernel make the loop's descriptor readable, unless there is work already.
    ///
    /// - Parameters:
    ///   - mode: The mode.
    ///   - servesIdleWork: True if idle work counts as work.
    /// - Returns: True if there is work. The descriptor may be unreadable in that case.
    func prepareGuest(in mode: RunLoop.Mode, servesIdleWork: Bool) -> Bool {
        changeMode(to: mode)
        defer { changeMode(to: nil) }
        descriptors.watch()
        if guestHasWork(servesIdleWork) { return true }
        handle.counters.kernelCalls.add(poller.setAlarm(min(timers.nextWake, descriptors.nextRetry)))
        // An armed mailbox makes the descriptor readable with its next mail. If mail has come meanwhile, arming fails.
        return !handle.mailbox.arm()
    }

    private func guestHasWork(_ servesIdleWork: Bool) -> Bool {
        takeMail()
        // The mode holds nothing, or the loop has ended.
        if isFinished || runs.requests.contains(.end) { return false }
        if !isQuiet(until: .never) { return true }
        if servesIdleWork && deferredWork.isReadyWhenIdle { return true }
        return !waiting.guestIsIdle && observers.activities.contains(.beforeWaiting)
    }
}
