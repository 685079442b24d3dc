import Testing

@testable import Inspection

/// The text and metrics forms of a report.
@Suite struct TextTests {
    private static func loop(_ name: String, passes: Int = 0, busy: Int64 = 0) -> ProcessReport.Loop {
        ProcessReport.Loop(
            name: name, threadID: 7, isMain: false, isBlocked: false, pendingCount: 0,
            counts: .init(values: [.passes: Int64(passes), .messages: 2 * Int64(passes), .busyTime: busy]))
    }

    private static func report(_ date: Int64, _ loops: [ProcessReport.Loop]) -> ProcessReport {
        ProcessReport(processID: 1, program: "server", date: date, loops: loops, waits: [], recent: nil)
    }

    @Test(
        arguments: [
            (0, "0 ns"), (999, "999 ns"), (1_000, "1.00 us"), (12_345, "12.3 us"), (999_999, "999 us"),
            (3_020_000_000, "3.02 s"),
            (-1_500_000, "-1.50 ms"), (123_000_000_000, "123 s"), (36_000_000_000_000, "600 min"),
            (Int64.min, "-153722867 min"),
        ] as [(Int64, String)])
    func `times have three digits`(time: Int64, text: String) { #expect(time.time == text) }

    @Test func `two reports give rates and shares, one gives totals`() {
        let first = TextTests.report(0, [TextTests.loop("a", passes: 100, busy: 1_000_000_000)])
        let second = TextTests.report(2_000_000_000, [TextTests.loop("a", passes: 300, busy: 2_000_000_000)])
        let row = second.text(since: first).split(separator: "\n")[2]
        #expect(row.split(separator: " ").prefix(6) == ["a", "7", "50%", "0%", "100", "200"])
        #expect(first.text().split(separator: "\n")[2].split(separator: " ").prefix(3) == ["a", "7", "1.00"])
    }

    @Test func `no line is wider than the terminal, and no name moves its cursor`() {
        let evil = TextTests.loop("\u{1B}[2J\u{9B}\n" + String(repeating: "long ", count: 100))
        let text = TextTests.report(0, [evil]).text(width: 60)
        #expect(text.split(separator: "\n").allSatisfy { $0.count <= 60 })
        #expect(!text.unicodeScalars.contains { $0.value < 0x20 && $0 != "\n" || $0.value == 0x9B })
    }

    @Test func `a circle without a deadline is said first`() {
        var report = TextTests.report(0, [])
        report.waits = [
            ProcessReport.Wait(
                loop: "a", operation: "RunLoop.performAndWait", madeAt: "A/a.swift:1", waitsFor: ["b"],
                hasDeadline: false,
                isInCircle: true)
        ]
        #expect(report.text().split(separator: "\n")[1].hasPrefix("DEADLOCK: a waits for b"))
    }

    @Test func `metrics add up the ports of one place, and escape labels`() {
        var loop = TextTests.loop("a\"b\\c\nd", passes: 3, busy: 1_500_000_000)
        let port = ProcessReport.Input(
            kind: "port", madeAt: "A/a.swift:1", modes: ["default"], count: 4, limit: 8, waitingSenders: 1)
        loop.details = ProcessReport.Details(
            mode: "default", depth: 1, commonModes: [], inputs: [port, port])
        let text = TextTests.report(0, [loop]).prometheusText
        let label = "loop=\"a\\\"b\\\\c\\nd\""
        #expect(text.contains("run_loop_passes_total{\(label)} 3\n"))
        #expect(text.contains("run_loop_busy_seconds_total{\(label)} 1.500000000\n"))
        #expect(text.contains("run_loop_port_depth{\(label),port=\"A/a.swift:1\"} 8\n"))
        #expect(text.contains("run_loop_port_waiting_senders{\(label),port=\"A/a.swift:1\"} 2\n"))
    }

    @Test func `no label ends its line, and no time is misread`() {
        let evil = TextTests.loop("a\r\nb\u{2028}c\u{1B}[2J", busy: -1_500_000_000)
        let text = TextTests.report(0, [evil, evil]).prometheusText
        #expect(text.contains("{loop=\"a\\\\u{d}\\nb\\\\u{2028}c\\\\u{1b}[2J\"}"))
        #expect(
            text.contains(
                "run_loop_busy_seconds_total{loop=\"a\\\\u{d}\\nb\\\\u{2028}c\\\\u{1b}[2J\"} -3.000000000\n"))
        var many = TextTests.report(0, [])
        many.loops = Array(repeating: TextTests.loop("a", busy: .max), count: 3)
        #expect(
            many.prometheusText.contains("run_loop_busy_seconds_total{loop=\"a\"} 9223372036.854775807\n"))
    }
}
