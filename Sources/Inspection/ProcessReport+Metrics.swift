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
    /// | `run_loop_blocked` | loop | 1 if the loop did not answer while it called one handler |
    /// | `run_loop_port_depth` | loop, port | messages that wait in a port |
    /// | `run_loop_port_waiting_senders` | loop, port | senders that wait for room |
    ///
    /// The label of a loop is its name, or `thread-` and the thread's ID; that of a port is the place where it was made. Ports
    /// that were made at one place are added up. Loops of one name are added up, too.
    public var prometheusText: String {
        var text = MetricsText()
        text.family("run_loop_passes_total", "counter", "Passes.", loops) { $0.counts.passes }
        text.family("run_loop_messages_total", "counter", "Messages handled.", loops) { $0.counts.messages }
        text.family("run_loop_wakeups_total", "counter", "Sleeps that the kernel ended.", loops) {
            $0.counts.wakeUps
        }
        text.family("run_loop_kernel_calls_total", "counter", "System calls to wait, poll and wake.", loops) {
            $0.counts.kernelCalls
        }
        text.family("run_loop_timer_fires_total", "counter", "Fires of timers.", loops) {
            $0.counts.timerFires
        }
        text.seconds("run_loop_busy_seconds_total", "Time in runs, without waiting.", loops) {
            $0.counts.busyTime
        }
        text.seconds("run_loop_processor_seconds_total", "Processor time of the thread.", loops) {
            $0.counts.processorTime
        }
        text.family("run_loop_pending", "gauge", "Work that the loop has not begun.", loops) { $0.pending }
        text.family("run_loop_blocked", "gauge", "1 if one handler kept the loop from answering.", loops) {
            $0.isBlocked ? 1 : 0
        }
        text.ports("run_loop_port_depth", "Messages that wait in a port.", loops) { $0.count ?? 0 }
        text.ports("run_loop_port_waiting_senders", "Senders that wait for room.", loops) {
            $0.waitingSenders ?? 0
        }
        return text.text
    }
}

/// The text form of metrics, as Prometheus reads it.
private struct MetricsText {
    private(set) var text = ""

    mutating func family(
        _ name: String, _ type: String, _ help: String, _ loops: [ProcessReport.Loop],
        _ value: (ProcessReport.Loop) -> Int
    ) {
        write(name, type, help, loops.map { ([("loop", $0.metricsLabel)], Int64(value($0))) }) { "\($0)" }
    }

    /// A counter of nanoseconds, written as seconds.
    mutating func seconds(
        _ name: String, _ help: String, _ loops: [ProcessReport.Loop], _ value: (ProcessReport.Loop) -> Int64
    ) {
        write(name, "counter", help, loops.map { ([("loop", $0.metricsLabel)], value($0)) }) { nanoseconds in
            let decimals = String(nanoseconds % 1_000_000_000)
            return "\(nanoseconds / 1_000_000_000)." + String(repeating: "0", count: 9 - decimals.count)
                + decimals
        }
    }

    mutating func ports(
        _ name: String, _ help: String, _ loops: [ProcessReport.Loop], _ value: (ProcessReport.Input) -> Int
    ) {
        let samples = loops.flatMap { loop in
            (loop.details?.inputs ?? []).filter { $0.kind == "port" }.map { port in
                ([("loop", loop.metricsLabel), ("port", port.madeAt)], Int64(value(port)))
            }
        }
        write(name, "gauge", help, samples) { "\($0)" }
    }

    /// Writes the samples of a family, those with the same labels added up.
    private mutating func write(
        _ name: String, _ type: String, _ help: String,
        _ samples: [(labels: [(String, String)], value: Int64)],
        _ number: (Int64) -> String
    ) {
        text += "# HELP \(name) \(help)\n# TYPE \(name) \(type)\n"
        var sums: [String: Int64] = [:]
        var order: [String] = []
        for sample in samples {
            let labels = sample.labels.map { "\($0.0)=\"\($0.1.metricsEscaped)\"" }.joined(separator: ",")
            if sums[labels] == nil { order.append(labels) }
            sums[labels, default: 0] += sample.value
        }
        for labels in order { text += "\(name){\(labels)} \(number(sums[labels] ?? 0))\n" }
    }
}

extension ProcessReport.Loop {
    fileprivate var metricsLabel: String { name.isEmpty ? "thread-\(threadID)" : name }
}

extension String {
    fileprivate var metricsEscaped: String {
        var escaped = ""
        for character in self {
            switch character {
            case "\\": escaped += "\\\\"
            case "\"": escaped += "\\\""
            case "\n": escaped += "\\n"
            default: escaped.append(character)
            }
        }
        return escaped
    }
}
