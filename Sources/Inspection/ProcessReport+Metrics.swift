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
        [
            counts("run_loop_passes_total", "Passes.") { $0.passes },
            counts("run_loop_messages_total", "Messages handled.") { $0.messages },
            counts("run_loop_wakeups_total", "Sleeps that the kernel ended.") { $0.wakeUps },
            counts("run_loop_kernel_calls_total", "System calls to wait, poll and wake.") { $0.kernelCalls },
            counts("run_loop_timer_fires_total", "Fires of timers.") { $0.timerFires },
            times("run_loop_busy_seconds_total", "Time in runs, without waiting.") { $0.busyTime },
            times("run_loop_processor_seconds_total", "Processor time of the thread.") { $0.processorTime },
            gauge("run_loop_pending", "Work that the loop has not begun.") { $0.pendingCount },
            gauge("run_loop_blocked", "1 if one handler kept the loop from answering.") {
                $0.isBlocked ? 1 : 0
            },
            ports("run_loop_port_depth", "Messages that wait in a port.") { $0.count ?? 0 },
            ports("run_loop_port_waiting_senders", "Senders that wait for room.") { $0.waitingSenders ?? 0 },
        ]
    }

    private func counts(
        _ name: String, _ help: String, _ value: (ProcessReport.Counts) -> Int
    ) -> MetricFamily {
        family(name, help, .counter) { Int64(value($0.counts)) }
    }

    private func times(
        _ name: String, _ help: String, _ value: (ProcessReport.Counts) -> Int64
    ) -> MetricFamily {
        family(name, help, .secondsCounter) { value($0.counts) }
    }

    private func gauge(_ name: String, _ help: String, _ value: (ProcessReport.Loop) -> Int) -> MetricFamily {
        family(name, help, .gauge) { Int64(value($0)) }
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

extension ProcessReport.Loop {
    /// The value of the label `loop` that identifies this loop in metrics.
    package var metricsLabel: String { name.isEmpty ? "thread-\(threadID)" : name }
}
