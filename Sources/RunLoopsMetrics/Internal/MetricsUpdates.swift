#if Metrics
    internal import Inspection
    internal import RunLoops

    /// The actor that updates the swift-metrics values; it runs on a loop.
    actor MetricsUpdates {
        private let loop: RunLoop
        private let recorder: FlightRecorder?
        private var mirror: MetricsMirror
        /// The time of the last event of each thread that an update has counted.
        ///
        /// Each key is the number of a thread in the recording.
        private var lastTicks: [Int: UInt64] = [:]

        // Safe: the executor does not retain the loop, but the actor does.
        nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe loop.asUnownedSerialExecutor() }

        init(on loop: RunLoop, _ mirror: MetricsMirror, _ recorder: FlightRecorder?) {
            self.loop = loop
            self.mirror = mirror
            self.recorder = recorder
        }

        /// Updates the metrics now, and again after each interval.
        func begin(every interval: Duration) {
            update()
            Timer.scheduledTimer(withTimeInterval: interval, repeats: true) { _ in
                self.assumeIsolated { $0.update() }
            }
        }

        /// Updates swift-metrics with the counts of all loops, and with the events that were recorded since the last update.
        func update() {
            // The report is made without the recorder, because the summary of the recording is not needed. The events are read from
            // a snapshot below.
            let report = ProcessReport()
            mirror.show(report)
            guard let recorder else { return }
            let names = Dictionary(
                report.loops.map { ($0.threadID, $0.metricsLabel) }, uniquingKeysWith: { first, _ in first })
            for thread in recorder.snapshot().threads {
                // A loop that has ended is labelled with the name of its thread.
                let own = thread.name.isEmpty ? "thread-\(thread.id)" : thread.name
                let loop = thread.hasEnded ? own : names[thread.id] ?? own
                for event in thread.events(after: lastTicks[thread.number] ?? 0) {
                    count(event, of: loop)
                }
                lastTicks[thread.number] = thread.lastTicks ?? lastTicks[thread.number]
            }
        }

        private func count(_ event: FlightRecorder.Event, of loop: String) {
            guard case .handler(let kind) = event.kind, let duration = event.duration else { return }
            let labels = [("loop", loop), ("kind", kind.description)]
            mirror.record(duration, "run_loop_handler_seconds", labels)
            if let wait = event.wait { mirror.record(wait, "run_loop_post_to_start_seconds", labels) }
            if let lateness = event.lateness {
                mirror.record(lateness, "run_loop_timer_lateness_seconds", labels)
            }
        }
    }
#endif
