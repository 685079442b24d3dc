internal import CLibEvent
internal import CThreads
internal import Synchronization

// Spinning and sleeping.

/// How a loop waits, and what it has learned about waiting.
struct Waiting {
    var policy = RunLoop.WaitPolicy.adaptive {
        // What is set anew is tried at once.
        didSet { pause = SpinPause() }
    }
    /// A longer time between two readings of a spin's clock says that the loop was preempted; a test has another one.
    var longestGap = SpinPause.longestGap
    var pause = SpinPause()
    fileprivate var budget = SpinBudget()
    /// When the loop was last woken, for the gap between two wake-ups.
    fileprivate var lastWork = Moment(nanoseconds: 0)
    /// When a loop that spins looks at its descriptors next.
    ///
    /// Kept from spin to spin: where messages always come soon, no spin lasts until its first look.
    fileprivate var nextLook = Moment(nanoseconds: 0)
    /// Counts down to the next measurement of a wake-up.
    fileprivate var untilMeasurement = 0

    /// Loops that are in a run and not asleep.
    private static let awakeLoops = Atomic<Int>(0)

    /// How many these are.
    static var awakeLoopCount: Int { awakeLoops.load(ordering: .relaxed) }

    private var isAwake = false

    mutating func runBegins() {
        isAwake = true
        Waiting.awakeLoops.add(1, ordering: .relaxed)
    }

    mutating func runEnds() {
        isAwake = false
        Waiting.awakeLoops.subtract(1, ordering: .relaxed)
    }

    /// The loop is not awake any more, even if a run has not returned.
    mutating func threadEnds() { if isAwake { runEnds() } }

    /// The clock was read twice in a row while the loop spun.
    ///
    /// - Returns: True if the loop was preempted in between.
    fileprivate mutating func hasRead(_ now: Moment, after last: Moment) -> Bool {
        let gap = now.nanoseconds - last.nanoseconds
        if gap <= longestGap { return false }
        // An adaptive loop spins for so short a time that its budget is enough to hold it back.
        if policy.kind != .adaptive { pause.preempted(for: gap, at: now) }
        return true
    }

    /// How long to spin now, in nanoseconds.
    fileprivate mutating func spinLength() -> Int64 {
        let wanted: Int64
        switch policy.kind {
        case .park: return 0
        case .spin(let length): wanted = length
        case .adaptive: wanted = budget.length
        }
        if wanted == 0 { return 0 }
        let processors = Int(runloops_usable_processors())
        if processors <= 1 { return 0 }
        let othersAwake = Waiting.awakeLoopCount - 1
        if policy.kind == .adaptive && othersAwake >= processors - 1 { return 0 }
        return wanted
    }
}

extension LoopCore {
    /// Waits until there is something to do, at the latest at `deadline`.
    ///
    /// Called when nothing is; what other threads do meanwhile is seen, because only an armed mailbox sleeps, and
    /// arming fails when something has come.
    ///
    /// - Parameters:
    ///   - deadline: The latest moment.
    ///   - afterCalls: Whether observers or idle work may have been called since nothing was there to be done.
    func sleep(until deadline: Moment, afterCalls: Bool) {
        Fork.check("RunLoop.run")
        let mayHaveChanged = watchedMode != currentMode || afterCalls
        watchDescriptors()
        if mayHaveChanged && (holdsWork(idleWork) || !isQuiet(until: deadline)) {
            // Observers and idle work have added something: only look.
            pollNow()
        } else {
            let wake = min(deadline, timers.nextWake ?? .never, watchRetry.moment)
            if let driver = ThreadDriver.current {
                beDriven(by: driver, until: wake)
            } else if !spin(until: wake) {
                park(until: wake)
            }
        }
        notesHandlers = inbox.handlers.isWanted
        takeMail()
    }

    /// Leaves it to a test how long the loop sleeps.
    @inline(never)
    private func beDriven(by driver: ThreadDriver, until wake: Moment) {
        let readyBefore = readyDescriptors.count
        driver.wait(wake.instant, .sleep(depth: depth)) {
            if poller.watchCount > 0 { poller.poll() }
            return inbox.mailbox.current.node != nil || readyDescriptors.count > readyBefore
                || mainQueueIsReady
        }
        inbox.counters.wakeUps.add()
        now = Moment.now()
    }

    private func pollNow() {
        if poller.watchCount > 0 || isMainQueueDue() {
            racePoint(.polls)
            poller.poll()
            inbox.counters.kernelCalls.add()
        }
        now = Moment.now()
    }

    /// Sleeps in the kernel, unless mail has come.
    private func park(until wake: Moment) {
        let measures = waiting.policy.kind == .adaptive && waiting.untilMeasurement == 0
        if measures { inbox.wakeStamp.store(1, ordering: .relaxed) }
        // As in every other pass the kernel is asked: the next message may come just as late.
        guard inbox.mailbox.arm() else { return pollNow() }
        waiting.runEnds()
        racePoint(.sleeps)
        inbox.counters.kernelCalls.add(poller.wait(until: wake))
        racePoint(.wakes)
        waiting.runBegins()
        inbox.counters.wakeUps.add()
        // The one reading of a wake-up, and only if somebody needs the time.
        guard waiting.policy.kind == .adaptive || wake != .never || mainQueue != nil else { return }
        now = Moment.now()
        mainQueue?.kernelWasAsked(at: now)
        if waiting.policy.kind == .adaptive { learn(measured: measures) }
    }

    private func learn(measured: Bool) {
        waiting.budget.slept(gap: now.nanoseconds - waiting.lastWork.nanoseconds)
        waiting.lastWork = now
        if !measured {
            waiting.untilMeasurement -= 1
            return
        }
        let stamp = inbox.wakeStamp.exchange(0, ordering: .relaxed)
        if stamp > 1 {
            waiting.budget.measured(now.nanoseconds - stamp)
            waiting.untilMeasurement = 15
        }
    }

    /// Watches the mailbox for a while without being armed, so that senders make no system call.
    ///
    /// Gives up as soon as the loop was preempted, and does nothing as long as a pause lasts.
    ///
    /// - Returns: Whether there is something to do.
    private func spin(until wake: Moment) -> Bool {
        let length = waiting.spinLength()
        if length == 0 { return false }
        let start = Moment.now()
        now = start
        if start < waiting.pause.end { return false }
        let end = min(start.advanced(by: length), wake)
        // Those of an outer run's mode stay in the list, and are no reason to end this wait.
        let readyBefore = readyDescriptors.count
        var found = false
        var wasPreempted = false
        repeat {
            if poller.watchCount > 0 && now >= waiting.nextLook || mainQueue?.isDue(at: now) == true {
                poller.poll()
                inbox.counters.kernelCalls.add()
                waiting.nextLook = now.advanced(by: LoopCore.descriptorInterval)
                found = readyDescriptors.count > readyBefore || mainQueueIsReady
                if found { break }
            }
            // The pause takes about as long as a cache line takes to arrive: the word is read after each.
            for _ in 0..<16 {
                racePoint(.spins)
                if inbox.mailbox.current.node != nil {
                    found = true
                    break
                }
                runloops_pause()
            }
            // In a spin that has lasted, what was found may have come while the loop was preempted; in a short one the clock
            // is not worth its reading.
            if found && now.nanoseconds - start.nanoseconds <= waiting.longestGap { break }
            let last = now
            now = Moment.now()
            wasPreempted = waiting.hasRead(now, after: last)
        } while !found && !wasPreempted && now < end
        if found {
            inbox.counters.spinHits.add()
            waiting.budget.hit()
            return true
        }
        inbox.counters.spinMisses.add()
        waiting.budget.miss()
        return now >= wake
    }

    /// How often a spinning loop looks at its descriptors, in nanoseconds.
    private static let descriptorInterval: Int64 = 4_000
}
