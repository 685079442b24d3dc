#if Metrics
    public import Metrics
    public import RunLoops

    /// Reports the counts of all loops of the process to swift-metrics.
    ///
    /// ```swift
    /// let recorder = try FlightRecorder()
    /// let metrics = try RunLoopMetrics(recorder: recorder)
    /// ```
    ///
    /// The loops keep their counts whether or not this object exists. At each update, a thread of this object reads the counts, and
    /// reports how much they have grown since the previous update. Bootstrap the metrics system before you create this object.
    ///
    /// The metrics are those that `ProcessReport.prometheusText` of the module Inspection lists, with the same labels: those whose
    /// names end in `_total` are counters, and the others are meters. With a recorder, there are also these timers:
    ///
    /// | name | labels | meaning |
    /// |---|---|---|
    /// | `run_loop_handler_seconds` | loop, kind | length of a handler |
    /// | `run_loop_post_to_start_seconds` | loop, kind | time from the sending of a message to its handler |
    /// | `run_loop_timer_lateness_seconds` | loop, kind | time from the date of a timer to its handler |
    ///
    /// The label `kind` is the kind of handler, in words. Metrics with the same labels are added up.
    ///
    /// The timer metrics come from the recorder, so they contain only the calls that the recorder records. Of many short calls, the
    /// recorder records only a sample. The busy time is known only while a `FlightRecorder`, a `RunLoopWatchdog` or an `Inspector`
    /// is active, and blocked loops only while a watchdog or an inspector is active.
    ///
    /// > Thread safety: any thread.
    public final class RunLoopMetrics: Sendable {
        private let thread: RunLoopThread
        private let updates: MetricsUpdates

        /// Begins to report the metrics.
        ///
        /// The first update happens immediately.
        ///
        /// - Parameters:
        ///   - interval: The time between two updates; more than zero.
        ///   - recorder: The flight recorder of the process, for the timer metrics; nil to report no timer metrics. This object
        ///     retains the recorder.
        ///   - factory: The factory of the metrics; by default, the one that was bootstrapped.
        /// - Throws: `SystemError` if the system cannot start a thread, or cannot open the descriptors of its loop.
        public init(
            every interval: Duration = .seconds(10), recorder: FlightRecorder? = nil,
            factory: any MetricsFactory = MetricsSystem.factory
        ) throws(SystemError) {
            if interval <= .zero {
                misuse(
                    "RunLoopMetrics.init: an interval of \(interval) is not positive; use a longer one")
            }
            thread = try RunLoopThread(name: "metrics")
            updates = MetricsUpdates(on: thread.runLoop, MetricsMirror(factory), recorder)
            thread.runLoop.perform { [updates] in updates.assumeIsolated { $0.begin(every: interval) } }
        }

        deinit { stop() }

        /// Reports the current counts, and returns when they are reported.
        ///
        /// Use this in tests, or when the metrics system asks for the values. An update waits up to a tenth of a second for loops
        /// that do not answer. After ``stop()``, this does nothing.
        ///
        /// > Thread safety: any thread; it blocks. A loop whose handler makes this call is treated as a loop that does not answer.
        @available(*, noasync, message: "this blocks the thread; await the asynchronous update instead")
        public func update() {
            // Once the thread has ended, there is nothing to update.
            do {
                try thread.runLoop.performAndWait { [updates] in updates.assumeIsolated { $0.update() } }
            } catch {}
        }

        /// Reports the current counts, and returns when they are reported, without blocking a thread.
        ///
        /// Apart from that, this behaves like the method of the same name that blocks.
        nonisolated(nonsending) public func update() async {
            do {
                try await thread.runLoop.performAndWait { [updates] in
                    updates.assumeIsolated { $0.update() }
                }
            } catch {}
        }

        /// Ends the updates.
        ///
        /// Releasing the last reference does the same. Metrics that were reported before remain. A second call does nothing.
        public func stop() { thread.stop() }
    }

    extension RunLoopMetrics: CustomStringConvertible {
        /// The name of the thread that updates the metrics.
        public var description: String { "metrics of loops, on the \(thread)" }
    }
#else
    /// A placeholder for this type, which is available only with the package trait `Metrics`.
    @available(
        *, unavailable,
        message: "name the trait where you name the package: .package(url: …, traits: [\"Metrics\"])"
    )
    public enum RunLoopMetrics: Sendable {}
#endif
