internal import Synchronization

/// Records what the threads of the process do with their loops, so that a program can look back at the last seconds.
///
/// A recorder answers questions that come too late for a log: which handler blocked a loop, how long a message waited and
/// which line sent it, what woke a loop, which thread waits for room in a port. It is made to be always on.
///
/// ```swift
/// let recorder = try FlightRecorder()
/// recorder.onSlowHandler(over: .milliseconds(50)) { snapshot, report in
///     save(snapshot)
/// }
/// ```
///
/// Each thread writes its events into a ring of its own, oldest overwritten first, and no thread ever waits for another one or
/// for a ``snapshot()``. A recording holds calls of handlers of every kind with the place in the source and, for a message,
/// the time that it waited; sleeps and what ended them; runs with their modes; messages sent; full ports; waits of threads, and
/// waits that were refused; notifications; and the program's own marks and intervals. It holds places, and never the contents
/// of messages.
///
/// A process has one recorder at a time. Without a recorder, recording costs the loops nothing. A forked child records nothing
/// until it makes a recorder of its own.
///
/// In a simulation of `RunLoopsTesting` a recorder that is made by a simulated thread records all simulated threads on the
/// simulation's clock, and no others. So one seed gives one recording.
///
/// > Thread safety: any thread.
public final class FlightRecorder: Sendable {
    /// The amount of detail in a recording.
    ///
    /// > Thread safety: a value.
    public enum Detail: Hashable, Sendable {
        /// Handlers of timers, sources and observers, runs, sleeps and waits are recorded each.
        ///
        /// Messages are blocks, jobs, port messages and deliveries. Of their handlers, a loop records up to eight within 50 µs
        /// one by one. If handlers beyond those take more than 500 µs together, they are recorded as one
        /// ``FlightRecorder/Event/Kind/stretch(count:)``. A thread records the messages that it sends to an idle receiver, and
        /// every 64th other message, at most once in 10 µs.
        case sampled
        /// Every handler and every message that is sent is recorded, for tests and experiments.
        case everything
    }

    /// An error of a recorder.
    ///
    /// > Thread safety: a value.
    public enum Failure: Error, Hashable, Sendable, CustomStringConvertible {
        /// Another recorder of the process has not been stopped.
        case isRecordedAlready

        /// The error in words, with the caller's alternative.
        public var description: String {
            switch self {
            case .isRecordedAlready:
                "the process has a flight recorder already; use it, or stop it before you make another one"
            }
        }
    }

    /// The longest time that the events of a snapshot go back.
    public let window: Duration

    let session: Recording.Session
    private let watchdogs = Guarded<[RunLoopWatchdog]>([])

    /// Begins to record.
    ///
    /// - Parameters:
    ///   - window: The longest time that a snapshot goes back; more than zero.
    ///   - byteLimit: The memory for the events of all threads, in bytes. It is divided among 32 threads, each of which has at
    ///     least 256 events of 24 bytes; memory is taken as it is first written. A thread that ends leaves its events until a
    ///     new thread needs their place. Threads beyond 32 that live at once are counted, and not recorded.
    ///   - detail: The amount of detail.
    /// - Throws: ``Failure/isRecordedAlready``.
    public init(
        keeping window: Duration = .seconds(10), atMost byteLimit: Int = 8 << 20, detail: Detail = .sampled
    ) throws(Failure) {
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
        guard let session else { throw .isRecordedAlready }
        self.session = session
        LoopRegistry.recordingDidChange()
    }

    deinit { stop() }

    /// The most threads that are recorded at once.
    static let mostThreads = 32

    /// Returns the largest power of two of events that fit into that many bytes, and at least 256.
    static func eventCount(bytes: Int) -> Int {
        let most = max(256, bytes / EventRing.bytes(1))
        return 1 << (Int.bitWidth - 1 - most.leadingZeroBitCount)
    }

    /// Ends the recording and discards its events, as releasing the last reference to the recorder does.
    ///
    /// Later snapshots are empty. Calling it again does nothing.
    public func stop() {
        if Fork.isChild { return }
        for watchdog in watchdogs.withLock({ $0 }) { watchdog.stop() }
        Recording.end(session.generation)
        LoopRegistry.recordingDidChange()
    }

    // MARK: - Marks

    /// Records a mark on the calling thread.
    ///
    /// - Parameter text: A name for the mark, a literal, so that no contents of the program's data get into a recording.
    public func mark(_ text: StaticString) { Recorder.note(.mark, RecordedPlaces.Place(text)) }

    /// Records an interval on the calling thread, from the beginning of a body to its end.
    ///
    /// - Parameters:
    ///   - text: A name for the interval, a literal.
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

    /// Calls a handler with a snapshot after a handler of any loop has returned and took longer than a given time.
    ///
    /// A ``RunLoopWatchdog`` finds the slow handlers, with its limits: it looks four times within the threshold, and each call
    /// of a handler then costs its loop a few plain stores.
    ///
    /// - Parameters:
    ///   - threshold: The time that a handler may take; more than zero.
    ///   - handler: Called on a thread of its own, after the slow handler has returned. It is not called after ``stop()``, apart
    ///     from a call that is under way.
    /// - Throws: ``SystemError`` if the system refuses a thread, or descriptors for its loop.
    public func onSlowHandler(
        over threshold: Duration, _ handler: @escaping @Sendable (Snapshot, RunLoopWatchdog.Report) -> Void
    ) throws(SystemError) {
        let watchdog = try RunLoopWatchdog(threshold: threshold) { [weak self] report in
            guard let self, report.phase == .ended else { return }
            handler(self.snapshot(), report)
        }
        watchdogs.withLock { $0.append(watchdog) }
    }
}

extension RecordedPlaces.Place {
    init(_ text: StaticString) { self.init(SourceLocation(text, 0)) }
}
