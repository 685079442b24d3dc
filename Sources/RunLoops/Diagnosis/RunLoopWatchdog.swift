internal import Synchronization

/// Reports handlers that block their loops for too long, while the handlers are still running.
///
/// A watchdog watches all current and future loops of the process from its own thread. A handler that runs the loop is not
/// reported, because that run does the loop's work. A handler that waits for another thread is reported.
///
/// ```swift
/// let watchdog = try RunLoopWatchdog(threshold: .milliseconds(200)) { report in log(report) }
/// ```
///
/// The watchdog reports a call when the call has lasted for the threshold. It reports that call again each time that the call has
/// lasted twice as long as at the previous report, and once more when the call has returned.
///
/// The loops do not read the clock. Instead, the watchdog inspects the loops four times within the threshold, but at most once in a
/// tenth of a millisecond. So each report arrives up to half the threshold later, and the watchdog can miss a call that lasts
/// between 1 and 1.5 times the threshold. If a pass is under way when the watchdog begins, the watchdog can also miss the
/// calls of that pass, except calls of inputs that are added after the watchdog has begun.
///
/// Without a watchdog, the loops do no additional work. With a watchdog, each call of a handler costs its loop a few plain stores.
///
/// > Thread safety: any thread.
public final class RunLoopWatchdog: Sendable {
    /// The time that a handler is allowed to take.
    public let threshold: Duration

    private let watch: Watch
    private let thread: RunLoopThread

    /// Starts a watchdog.
    ///
    /// - Parameters:
    ///   - threshold: The time that a handler is allowed to take; more than zero.
    ///   - report: Called on the watchdog's thread with each report. The watchdog does not inspect the loops during the call.
    /// - Throws: ``SystemError`` if the system cannot start a thread, or cannot open the descriptors of its loop. In that case, no
    ///   loop is watched.
    public init(
        threshold: Duration = .milliseconds(200), report: @escaping @Sendable (Report) -> Void
    ) throws(SystemError) {
        if threshold <= .zero {
            misuse(
                "RunLoopWatchdog: a threshold of \(threshold) is not positive; use more than zero"
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

    /// Stops watching.
    ///
    /// Releasing the last reference to the watchdog does the same. No new report is made, but a call of the report handler that is
    /// under way continues. A second call does nothing.
    public func stop() {
        // In a forked child, the watchdog's thread does not exist. In the parent, that thread continues.
        if Fork.isChild || watch.isStopped.exchange(true, ordering: .relaxed) { return }
        LoopRegistry.endWatching()
        thread.stop()
    }
}

/// The object with which a watchdog's thread inspects the loops.
private final class Watch: Sendable {
    let isStopped = Atomic(false)
    private let report: @Sendable (RunLoopWatchdog.Report) -> Void

    init(_ report: @escaping @Sendable (RunLoopWatchdog.Report) -> Void) { self.report = report }

    /// Starts to inspect the loops at regular intervals.
    ///
    /// Only the watchdog's thread calls this.
    func begin(_ threshold: Int64) {
        let own = RunLoop.current
        // This loop sleeps as soon as it has nothing to do, because no sender needs a quick answer.
        own.waitPolicy = .park
        let interval = max(threshold / 4, Watch.shortestInterval)
        var blocked = BlockedHandlers<RunLoop>(threshold: threshold, interval: interval)
        let timer = Timer(timeInterval: .nanoseconds(interval), repeats: true) { _ in
            self.look(&blocked, every: interval, threshold: threshold, except: own)
        }
        own.add(timer, forMode: .default)
    }

    private static var shortestInterval: Int64 { 100_000 }

    private func look(
        _ blocked: inout BlockedHandlers<RunLoop>, every interval: Int64, threshold: Int64,
        except own: RunLoop
    ) {
        var looks: [RunLoop: (look: HandlerRecord.Look, sequence: UInt64)] = [:]
        for loop in LoopRegistry.loops where loop != own {
            guard let look = loop.handle.handlers.look() else { continue }
            looks[loop] = (look, loop.handle.mailbox.current.sequence)
        }
        let now = Moment.now()
        for finding in blocked.look(looks, now: now) {
            if isStopped.load(ordering: .relaxed) { return }
            report(RunLoopWatchdog.Report(finding, every: interval, threshold: threshold, now: now))
        }
    }
}

extension RunLoopWatchdog.Report {
    fileprivate init(
        _ finding: BlockedHandlers<RunLoop>.Finding, every interval: Int64, threshold: Int64, now: Moment
    ) {
        loop = finding.key
        threadID = loop.threadID
        handler = finding.look.call.kind
        madeAt = finding.look.madeAt
        phase = finding.phase
        duration = .nanoseconds(finding.knownNanoseconds(every: interval, threshold: threshold))
        let word = loop.handle.mailbox.current
        arrivals =
            word.isClosed ? 0 : Int((word.sequence &- finding.sequence) & Mailbox.Word.roomMask)
        let nextTimer = finding.look.nextTimer
        timerDelay =
            phase != .ended && nextTimer < now
            ? .nanoseconds(now.nanoseconds) - .nanoseconds(nextTimer.nanoseconds) : nil
    }
}
