internal import Synchronization

/// Notices, from a thread of its own, handlers that take too long and so keep their loops from everything else.
///
/// It watches all loops of the process, those that are made later, too. A handler that runs the loop is not reported: the
/// loop does its work meanwhile. One that waits for another thread is.
///
/// ```swift
/// let watchdog = try RunLoopWatchdog(threshold: .milliseconds(200)) { report in log(report) }
/// ```
///
/// Each call is reported when it has lasted for the threshold, again whenever it has lasted twice as long as at the report
/// before, and when it has returned. The report comes up to half the threshold later, and a call that lasts between one
/// and one and a half thresholds may go unnoticed: the loops do not read the clock, the watchdog looks at them, four times
/// within the threshold, and at most every tenth of a millisecond. A call in a pass that was under way when the watchdog began
/// may not be seen, unless what is called was given to the loop later.
///
/// While no watchdog watches, loops pay nothing for it. While one does, each call of a handler costs its loop a few plain
/// stores.
///
/// > Thread safety: any thread.
public final class RunLoopWatchdog: Sendable {
    /// How long a handler may take.
    public let threshold: Duration

    private let watch: Watch
    private let thread: RunLoopThread

    /// Begins to watch.
    ///
    /// - Parameters:
    ///   - threshold: How long a handler may take; more than nothing.
    ///   - report: Called on the watchdog's thread with what it has seen. The watchdog does not look while it runs.
    /// - Throws: ``SystemError`` if there is no thread, or no descriptors left for its loop. Nothing is watched then.
    public init(
        threshold: Duration = .milliseconds(200), report: @escaping @Sendable (Report) -> Void
    ) throws(SystemError) {
        if threshold <= .zero {
            misuse(
                "RunLoopWatchdog: a threshold of \(threshold) is over before a handler begins; use more than zero"
            )
        }
        self.threshold = threshold
        thread = try RunLoopThread(name: "watchdog")
        let watch = Watch(report)
        self.watch = watch
        LoopRegistry.beginWatching()
        thread.runLoop.perform { [threshold] in watch.begin(threshold.nanosecondsRoundedUp) }
    }

    deinit { stop() }

    /// Stops watching; so does letting go of the watchdog.
    ///
    /// No report is made any more, but one that is being made may go on. Again is harmless.
    public func stop() {
        // In a forked child there is no such thread, and the parent's goes on.
        if Fork.isChild || watch.isStopped.exchange(true, ordering: .relaxed) { return }
        LoopRegistry.endWatching()
        thread.stop()
    }
}

/// What a watchdog's thread does.
private final class Watch: Sendable {
    let isStopped = Atomic(false)
    private let report: @Sendable (RunLoopWatchdog.Report) -> Void

    init(_ report: @escaping @Sendable (RunLoopWatchdog.Report) -> Void) { self.report = report }

    /// Looks from now on, again and again.
    ///
    /// The watchdog's thread only.
    func begin(_ threshold: Int64) {
        let own = RunLoop.current
        // It has nothing to be quick for.
        own.waitPolicy = .park
        let interval = max(threshold / 4, Watch.shortestInterval)
        var blocked = BlockedHandlers<RunLoop>(threshold: threshold, interval: interval)
        let timer = Timer(timeInterval: .nanoseconds(interval), repeats: true) { _ in
            self.look(&blocked, except: own)
        }
        own.add(timer, forMode: .default)
    }

    private static var shortestInterval: Int64 { 100_000 }

    private func look(_ blocked: inout BlockedHandlers<RunLoop>, except own: RunLoop) {
        var looks: [RunLoop: (look: HandlerRecord.Look, sequence: UInt64)] = [:]
        for loop in LoopRegistry.loops where loop != own {
            guard let look = loop.handle.handlers.look() else { continue }
            looks[loop] = (look, loop.handle.mailbox.current.sequence)
        }
        let now = Moment.now()
        for finding in blocked.look(looks, now: now) {
            if isStopped.load(ordering: .relaxed) { return }
            report(RunLoopWatchdog.Report(finding, now: now))
        }
    }
}

extension RunLoopWatchdog.Report {
    fileprivate init(_ finding: BlockedHandlers<RunLoop>.Finding, now: Moment) {
        loop = finding.key
        threadID = loop.handle.handlers.thread.load(ordering: .relaxed)
        handler = finding.look.call.kind
        madeAt = finding.look.madeAt
        phase = finding.phase
        duration = .nanoseconds(finding.nanoseconds)
        let word = loop.handle.mailbox.current
        arrivals =
            word.isClosed ? 0 : Int((word.sequence &- finding.sequence) & Mailbox.Word.roomMask)
        let nextTimer = finding.look.nextTimer
        timerDelay =
            phase != .ended && nextTimer < now
            ? .nanoseconds(now.nanoseconds) - .nanoseconds(nextTimer.nanoseconds) : nil
    }
}
