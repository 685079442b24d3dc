internal import CLibEvent
internal import CRunLoops
internal import Synchronization

// Spinning and sleeping.

extension LoopCore {
    /// Waits until there is work, or until a deadline.
    ///
    /// Call this only after a check has found no work. No wake-up is lost: the loop sleeps only after it has armed the mailbox, and
    /// arming fails if mail has arrived.
    ///
    /// - Parameters:
    ///   - deadline: The moment at which the wait ends even if there is no work.
    ///   - afterCalls: True if observers or idle work can have run since the check that found no work.
    func sleep(until deadline: Moment, afterCalls: Bool) {
        if Recorder.mayRecord {
            Fork.look("RunLoop.run")
            sleepRecorded(until: deadline, afterCalls: afterCalls)
        } else {
            sleepUnrecorded(until: deadline, afterCalls: afterCalls)
        }
    }

    /// Does the same as ``sleep(until:afterCalls:)``, and records the sleep.
    @inline(never)
    private func sleepRecorded(until deadline: Moment, afterCalls: Bool) {
        let sleep = members.handlers.beginSleep()
        let readyBefore = descriptors.readyCount
        let mailBefore = handle.mailbox.current.sequence
        sleepUnrecorded(until: deadline, afterCalls: afterCalls)
        var causes: WakeCauses = []
        if handle.mailbox.current.sequence != mailBefore { causes.insert(.mail) }
        if descriptors.readyCount > readyBefore { causes.insert(.descriptor) }
        if timers.nextWake <= now { causes.insert(.timer) }
        members.handlers.endSleep(sleep, causes)
    }

    @inline(__always)
    private func sleepUnrecorded(until deadline: Moment, afterCalls: Bool) {
        let mayHaveChanged = !descriptors.isUpToDate || afterCalls
        descriptors.watch()
        if mayHaveChanged && (deferredWork.isReadyWhenIdle || !isQuiet(until: deadline)) {
            // Observers or idle work have added work, so the loop polls instead of sleeping.
            pollNow()
        } else {
            let wake = min(deadline, timers.nextWake, descriptors.nextRetry)
            members.handlers.noteIdle()
            if let driver = ThreadDriver.current {
                beDriven(by: driver, until: wake)
            } else if waiting.policy.kind == .park || !spin(until: wake) {
                park(until: wake)
            }
            members.handlers.noteBusy()
        }
        members.handlers.lookAgain()
        takeMail()
    }

    /// Waits until the driver of a simulation wakes the loop.
    @inline(never)
    private func beDriven(by driver: ThreadDriver, until wake: Moment) {
        let readyBefore = descriptors.readyCount
        driver.wait(wake.instant, .sleep(depth: runs.depth)) {
            if poller.watchCount > 0 { poller.poll() }
            return handle.mailbox.current.node != nil || descriptors.readyCount > readyBefore
                || mainQueueIsReady
        }
        handle.counters.wakeUps.add()
        now = Moment.now()
    }

    private func pollNow() {
        pollIfNeeded()
        now = Moment.now()
    }

    /// Polls the kernel without sleeping, if the kernel watches a descriptor for the loop.
    func pollIfNeeded() {
        guard poller.watchCount > 0 || isMainQueueDue() else { return }
        racePoint(.polls)
        poller.poll()
        handle.counters.kernelCalls.add()
    }

    /// Sleeps in the kernel, unless another thread has sent a message.
    private func park(until wake: Moment) {
        let measures = waiting.policy.kind == .adaptive && waiting.untilMeasurement == 0
        if measures { handle.wakeStamp.store(1, ordering: .relaxed) }
        // The kernel is polled here, because otherwise the descriptors would never be polled if mail always arrived at this point.
        guard handle.mailbox.arm() else { return pollNow() }
        waiting.runEnds()
        racePoint(.sleeps)
        handle.counters.kernelCalls.add(poller.wait(until: wake))
        racePoint(.wakes)
        waiting.runBegins()
        handle.counters.wakeUps.add()
        // The clock is read once for each wake-up, and only if the time is needed.
        guard waiting.policy.kind == .adaptive || wake != .never || mainQueue.queue != nil else { return }
        now = Moment.now()
        mainQueue.queue?.kernelWasAsked(at: now)
        if waiting.policy.kind == .adaptive { learn(measured: measures) }
    }

    private func learn(measured: Bool) {
        waiting.budget.slept(gap: now.nanoseconds - waiting.lastWork.nanoseconds)
        waiting.lastWork = now
        if !measured {
            waiting.untilMeasurement -= 1
            return
        }
        let stamp = handle.wakeStamp.exchange(0, ordering: .relaxed)
        if stamp > 1 {
            waiting.budget.measured(now.nanoseconds - stamp)
            waiting.untilMeasurement = 15
        }
    }

    /// Spins: watches the mailbox for a while without arming it, so that senders need no system call to wake the loop.
    ///
    /// The spin ends as soon as the loop detects that it was preempted, and does not begin during a ``SpinPause``.
    ///
    /// - Returns: True if the loop must not sleep: there is work, or the moment `wake` has come.
    private func spin(until wake: Moment) -> Bool {
        let length = waiting.spinLength()
        if length == 0 { return false }
        let start = Moment.now()
        now = start
        if start < waiting.pause.end { return false }
        let end = min(start.advanced(by: length), wake)
        // Ready descriptors of an outer run's mode stay in the list, and do not end this spin.
        let readyBefore = descriptors.readyCount
        var found = false
        var wasPreempted = false
        repeat {
            if poller.watchCount > 0 && now >= waiting.nextLook || mainQueue.queue?.isDue(at: now) == true {
                poller.poll()
                handle.counters.kernelCalls.add()
                waiting.nextLook = now.advanced(by: LoopCore.descriptorInterval)
                found = descriptors.readyCount > readyBefore || mainQueueIsReady
                if found { break }
            }
            // Each pause takes about as long as the transfer of a cache line, and the mailbox's word is read before each pause.
            for _ in 0..<16 {
                racePoint(.spins)
                if handle.mailbox.current.node != nil {
                    found = true
                    break
                }
                runloops_pause()
            }
            // After a long spin, the loop reads the clock even if mail has arrived, because the mail can have arrived while the
            // loop was preempted. After a short spin, reading the clock is not worth its cost.
            if found && now.nanoseconds - start.nanoseconds <= waiting.longestGap { break }
            let last = now
            now = Moment.now()
            wasPreempted = waiting.hasRead(now, after: last)
        } while !found && !wasPreempted && now < end
        if found {
            handle.counters.spinHits.add()
            waiting.budget.hit()
            return true
        }
        handle.counters.spinMisses.add()
        waiting.budget.miss()
        return now >= wake
    }

    /// The interval at which a spinning loop polls its descriptors, in nanoseconds.
    private static let descriptorInterval: Int64 = 4_000
}
