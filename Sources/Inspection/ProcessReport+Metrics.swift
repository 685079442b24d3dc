internal import RunLoops

extension ProcessReport {
    /// The report in the text form that Prometheus reads.
    ///
    /// | name | labels | meaning |
    /// |---|---|---|
    /// | `run_loop_passes_total` | loop | passes |
    /// | `run_loop_messages_total` | loop | blocks, jobs, deliveries and port messages handled |
    /// | `run_loop_wakeups_total` | loop | sleeps that the kernel ended |
    /// | `run_loop_kernel_calls_total` | loop | system calls to wait, to poll and to wake |
    /// | `run_loop_timer_fires_total` | loop | fires of timers |
    /// | `run_loop_busy_seconds_total` | loop | time in runs, without waiting |
    /// | `run_loop_processor_seconds_total` | loop | processor time of the thread |
    /// | `run_loop_pending` | loop | work that the loop has not begun |
    /// | `run_loop_blocked` | loop | 1 if the loop did not answer because one handler ran all that time |
    /// | `run_loop_port_depth` | loop, port | messages that wait in a port |
    /// | `run_loop_port_waiting_senders` | loop, port | senders that wait for room |
    ///
    /// The label of a loop is its name, or `thread-` and the thread's ID; the label of a port is the source location at which the
    /// port was made. The values of ports with the same label are added up, and so are the values of loops with the same name.
    public var prometheusText: String {
        metricFamilies.map(\.prometheusText).joined()
    }

    /// The metrics of the report, for ``prometheusText`` and for other metrics systems.
    package var metricFamilies: [MetricFamily] {
        Counts.Key.allCases.map { key in
            family(key.metric.name, key.metric.help, key.metric.kind) { $0.counts[key] }
        } + [
            family("run_loop_pending", "Work that the loop has not begun.", .gauge) {
                Int64($0.pendingCount)
            },
            family("run_loop_blocked", "1 if one handler kept the loop from answering.", .gauge) {
                $0.isBlocked ? 1 : 0
            },
            ports("run_loop_port_depth", "Messages that wait in a port.") { $0.count ?? 0 },
            ports("run_loop_port_waiting_senders", "Senders that wait for room.") { $0.waitingSenders ?? 0 },
        ]
    }

    private func family(
        _ name: String, _ help: String, _ kind: MetricFamily.Kind, _ value: (ProcessReport.Loop) -> Int64
    ) -> MetricFamily {
        let samples = loops.map { loop in
            MetricFamily.Sample(
                threadID: loop.threadID, labels: [.init("loop", loop.metricsLabel)], value: value(loop))
        }
        return MetricFamily(name: name, help: help, kind: kind, samples: samples)
    }

    private func ports(
        _ name: String, _ help: String, _ value: (ProcessReport.Input) -> Int
    ) -> MetricFamily {
        let samples = loops.flatMap { loop in
            (loop.details?.inputs ?? []).filter { $0.kind == "port" }.map { port in
                MetricFamily.Sample(
                    threadID: loop.threadID,
                    labels: [.init("loop", loop.metricsLabel), .init("port", port.madeAt)],
                    value: Int64(value(port)))
            }
        }
        return MetricFamily(name: name, help: help, kind: .gauge, samples: samples)
    }
}

extension ProcessReport.Counts {
    /// The counts that a report has, by their keys in its JSON form and in the order of their metrics.
    package enum Key: String, CaseIterable, CodingKey {
        case passes, messages, wakeUps, kernelCalls, timerFires, busyTime, processorTime

        /// The metric of the count.
        var metric: (name: String, help: String, kind: MetricFamily.Kind) {
            switch self {
            case .passes: ("run_loop_passes_total", "Passes.", .counter)
            case .messages: ("run_loop_messages_total", "Messages handled.", .counter)
            case .wakeUps: ("run_loop_wakeups_total", "Sleeps that the kernel ended.", .counter)
            case .kernelCalls:
                ("run_loop_kernel_calls_total", "System calls to wait, poll and wake.", .counter)
            case .timerFires: ("run_loop_timer_fires_total", "Fires of timers.", .counter)
            case .busyTime:
                ("run_loop_busy_seconds_total", "Time in runs, without waiting.", .secondsCounter)
            case .processorTime:
                ("run_loop_processor_seconds_total", "Processor time of the thread.", .secondsCounter)
            }
        }

        /// Returns the count of a loop; times are in nanoseconds.
        func value(of loop: RunLoop, _ statistics: RunLoop.Statistics) -> Int64 {
            switch self {
            case .passes: Int64(statistics.passes)
            case .messages: Int64(statistics.messages)
            case .wakeUps: Int64(statistics.wakeUps)
            case .kernelCalls: Int64(statistics.kernelCalls + statistics.kernelWrites)
            case .timerFires: Int64(statistics.timerFires)
            case .busyTime: statistics.busyTime.wholeNanoseconds
            case .processorTime: loop.processorTime.wholeNanoseconds
            }
        }
    }

    /// The counts that the text of a report shows, with the heads of their totals and of their rates.
    static let columns: [(key: Key, total: String, rate: String)] = [
        (.busyTime, "BUSY", "BUSY"), (.processorTime, "CPU", "CPU"), (.passes, "PASSES", "PASS/S"),
        (.messages, "MSGS", "MSG/S"),
    ]

    init(of loop: RunLoop) {
        let statistics = loop.statistics
        for key in Key.allCases { values[key] = key.value(of: loop, statistics) }
    }
}

extension ProcessReport.Loop {
    /// The value of the label `loop` that identifies this loop in metrics.
    package var metricsLabel: String { name.isEmpty ? "thread-\(threadID)" : name }
}
