internal import Synchronization

/// Records the activity of the process's loops and their threads during the last seconds.
///
/// A recorder answers questions that arise too late for a log: which handler blocked a loop, how long a message waited and which
/// line sent it, which event woke a loop, which thread waits for room in a port. It is cheap enough to be always on.
///
/// ```swift
/// let recorder = try FlightRecorder()
/// recorder.reportSlowHandlers(over: .milliseconds(50)) { snapshot, report in
///     save(snapshot)
/// }
/// ```
///
/// Each thread writes its events into its own ring buffer, which overwrites the oldest events first. No thread ever waits for
/// another thread or for a ``snapshot()``.
///
/// A recording contains these events:
/// - calls of handlers of every kind, each with its source location and, for a message, the time that the message waited
/// - runs, with their modes
/// - sleeps, with the reasons for their ends
/// - sent messages, and full ports
/// - waits of threads, and waits that were refused
/// - notifications
/// - the program's own marks and intervals
///
/// A recording contains source locations, and never the contents of messages.
///
/// A process has one recorder at a time. Without a recorder, recording costs the loops nothing. A forked child records nothing
/// until it makes its own recorder.
///
/// If a simulated thread of `RunLoopsTesting` makes the recorder, it records only the simulated threads, with the dates of the
/// simulation's clock. So the same seed always gives the same recording.
///
/// > Thread safety: any thread.
public final class FlightRecorder: Sendable {
    /// The amount of detail in a recording.
    ///
    /// > Thread safety: a value.
    @nonexhaustive
    public enum Detail: Hashable, Sendable {
        /// A sample of the messages is recorded, and everything else is recorded in full.
        ///
        /// Each call of a handler of a timer, source or observer is recorded. Each run, sleep and wait is recorded, too.
        ///
        /// Messages are blocks, jobs, port messages and deliveries. Within 50 µs, a loop records up to eight message handlers
        /// with one event each. If the handlers beyond these eight take more than 500 µs together, they are recorded as one
        /// ``FlightRecorder/Event/Kind/handlers(count:)``. A thread records a message that it sends if the receiver has taken all
        /// earlier messages. Of all messages that are sent to one receiver, every 256th is recorded, too. In both cases, a thread
        /// records at most one message in 10 µs.
        case sampled
        /// Every handler and every sent message is recorded, for tests and experiments.
        case everything
    }

    /// The maximum age of the events of a snapshot.
    public let window: Duration

    let session: Recording.Session
    private let watchdogs = Guarded<[RunLoopWatchdog]>([])

    /// Begins to record.
    ///
    /// - Parameters:
    ///   - window: The maximum age of the events of a snapshot; more than zero.
    ///   - byteLimit: The memory for the events of all threads, in bytes. It is divided among 32 threads. Each thread has room
    ///     for at least 256 events of 24 bytes. The kernel provides the memory only when events are first written to it. The events
    ///     of a thread that has ended stay until a new thread needs their room. If more than 32 threads exist at the same time, the
    ///     additional threads are counted, but not recorded.
    ///   - detail: The amount of detail.
    /// - Throws: ``FlightRecorderError``.
    public init(
        keeping window: Duration = .seconds(10), byteLimit: Int = 8 << 20, detail: Detail = .sampled
    ) throws(FlightRecorderError) {
        Fork.check("FlightRecorder.init")
        if window <= .zero {
            misuse("FlightRecorder.init: a window of \(window) holds no event; use more than zero")
        }
        if byteLimit <= 0 {
            misuse("FlightRecorder.init: \(byteLimit) bytes hold no event; use more than zero")
        }
        self.window = window
        let clock = RecorderClock.best
        let session = Recording.begin(
            clock: clock, microsecond: clock.measureMicrosecond(),
            capacity: FlightRecorder.eventCount(bytes: byteLimit / FlightRecorder.mostThreads),
            mostRings: FlightRecorder.mostThreads, recordsEverything: detail == .everything)
        guard let session else { throw FlightRecorderError(.isRecordedAlready) }
        self.session = session
        LoopRegistry.recordingDidChange()
    }

    deinit { stop() }

    /// The maximum number of threads that are recorded at the same time.
    static let mostThreads = 32

    /// Returns the number of events that fit into a number of bytes, rounded down to a power of two; at least 256.
    static func eventCount(bytes: Int) -> Int {
        let most = max(256, bytes / EventRing.bytes(1))
        return 1 << (Int.bitWidth - 1 - most.leadingZeroBitCount)
    }

    /// Ends the recording and discards its events.
    ///
    /// Releasing the last reference to the recorder does the same.
    ///
    /// Later snapshots are empty. A second call does nothing.
    public func stop() {
        if Fork.isChild { return }
        for watchdog in watchdogs.withLock({ $0 }) { watchdog.stop() }
        Recording.end(session.generation)
        LoopRegistry.recordingDidChange()
    }

    // MARK: - Marks

    /// Records a mark on the calling thread.
    ///
    /// - Parameter text: A name for the mark. It is a literal, so that a recording contains no data of the program.
    public func mark(_ text: StaticString) { Recorder.note(.mark, RecordedPlaces.Place(text)) }

    /// Records the call of a closure as an interval on the calling thread.
    ///
    /// - Parameters:
    ///   - text: A name for the interval. It is a literal, so that a recording contains no data of the program.
    ///   - body: The work.
    /// - Returns: The result of the body.
    /// - Throws: The error of the body.
    public func interval<Result: ~Copyable, Failure: Error>(
        _ text: StaticString, _ body: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let slice = Recorder.begin(.interval, SourceLocation(text, 0))
        defer { Recorder.end(slice) }
        return try body()
    }

    // MARK: - Slow handlers

    /// Calls a closure with a snapshot each time that a handler of any loop has taken longer than a given time.
    ///
    /// A ``RunLoopWatchdog`` finds the slow handlers, so its limits apply: it checks the loops four times within the threshold, and
    /// each call of a handler costs the loop a few plain stores.
    ///
    /// - Parameters:
    ///   - threshold: The time that a handler is allowed to take; more than zero.
    ///   - report: Called on a separate thread, after the slow handler has returned. No call begins after ``stop()``; a call that
    ///     is under way continues.
    /// - Throws: ``SystemError`` if the system cannot start a thread, or cannot open the descriptors of its loop.
    public func reportSlowHandlers(
        over threshold: Duration, to report: @escaping @Sendable (Snapshot, RunLoopWatchdog.Report) -> Void
    ) throws(SystemError) {
        let watchdog = try RunLoopWatchdog(threshold: threshold) { [weak self] slow in
            guard let self, slow.phase == .ended else { return }
            report(self.snapshot(), slow)
        }
        watchdogs.withLock { $0.append(watchdog) }
    }
}

extension RecordedPlaces.Place {
    init(_ text: StaticString) { self.init(SourceLocation(text, 0)) }
}
