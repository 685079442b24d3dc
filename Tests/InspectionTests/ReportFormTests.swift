import Testing

@testable import Inspection

/// The forms of a report that other programs read: a name that changes breaks them.
@Suite struct ReportFormTests {
    private static let counts =
        #""counts":{"busyTime":6,"kernelCalls":4,"messages":2,"passes":1,"processorTime":7,"timerFires":5,"wakeUps":3}"#

    @Test func `the counts of a loop have these keys, metrics and columns`() {
        var report = HostileReportTests.report()
        report.loops.removeLast()
        report.waits = []
        #expect(report.json.contains(Self.counts))
        #expect(
            report.prometheusText == """
                # HELP run_loop_passes_total Passes.
                # TYPE run_loop_passes_total counter
                run_loop_passes_total{loop="loop"} 1
                # HELP run_loop_messages_total Messages handled.
                # TYPE run_loop_messages_total counter
                run_loop_messages_total{loop="loop"} 2
                # HELP run_loop_wakeups_total Sleeps that the kernel ended.
                # TYPE run_loop_wakeups_total counter
                run_loop_wakeups_total{loop="loop"} 3
                # HELP run_loop_kernel_calls_total System calls to wait, poll and wake.
                # TYPE run_loop_kernel_calls_total counter
                run_loop_kernel_calls_total{loop="loop"} 4
                # HELP run_loop_timer_fires_total Fires of timers.
                # TYPE run_loop_timer_fires_total counter
                run_loop_timer_fires_total{loop="loop"} 5
                # HELP run_loop_busy_seconds_total Time in runs, without waiting.
                # TYPE run_loop_busy_seconds_total counter
                run_loop_busy_seconds_total{loop="loop"} 0.000000006
                # HELP run_loop_processor_seconds_total Processor time of the thread.
                # TYPE run_loop_processor_seconds_total counter
                run_loop_processor_seconds_total{loop="loop"} 0.000000007
                # HELP run_loop_pending Work that the loop has not begun.
                # TYPE run_loop_pending gauge
                run_loop_pending{loop="loop"} 3
                # HELP run_loop_blocked 1 if one handler kept the loop from answering.
                # TYPE run_loop_blocked gauge
                run_loop_blocked{loop="loop"} 1
                # HELP run_loop_port_depth Messages that wait in a port.
                # TYPE run_loop_port_depth gauge
                run_loop_port_depth{loop="loop",port="A/a.swift:1"} 4
                # HELP run_loop_port_waiting_senders Senders that wait for room.
                # TYPE run_loop_port_waiting_senders gauge
                run_loop_port_waiting_senders{loop="loop",port="A/a.swift:1"} 1

                """)
        func table(_ report: ProcessReport, since earlier: ProcessReport?) -> [Substring] {
            report.text(since: earlier).split(separator: "\n").dropFirst().prefix { !$0.hasPrefix("PORTS") }
        }
        #expect(
            table(report, since: nil) == [
                "LOOP  THREAD  BUSY   CPU  PASSES  MSGS  PENDING  STATE",
                "loop       7  6 ns  7 ns       1     2        3  BLOCKED 9 ns in block A/a.swift:2",
            ])
        var later = report
        later.date += 1_000_000_000
        #expect(
            table(later, since: report) == [
                "LOOP  THREAD  BUSY  CPU  PASS/S  MSG/S  PENDING  STATE",
                "loop       7    0%   0%       0      0        3  BLOCKED 9 ns in block A/a.swift:2",
            ])
    }

    @Test func `a report without a count has 0 for it, and a count of a newer version is not read`() throws {
        let json = HostileReportTests.report().json
        let older = try ProcessReport(json: json.replacing(",\"timerFires\":5", with: ""))
        #expect(older.prometheusText.contains("run_loop_timer_fires_total{loop=\"loop\"} 0\n"))
        #expect(older.json == json.replacing("\"timerFires\":5", with: "\"timerFires\":0"))
        let newer = try ProcessReport(
            json: json.replacing("\"counts\":{\"busyTime\"", with: "\"counts\":{\"a\":[1.5],\"busyTime\""))
        #expect(newer.json == json)
    }
}
