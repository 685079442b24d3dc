import Foundation
import TestSupport
import Testing

@testable import Inspection

/// Reports that no honest process sends.
@Suite struct HostileReportTests {
    private static let seeds =
        ProcessInfo.processInfo.environment["RUNLOOPS_STRESS_REPORTS"].flatMap { UInt64($0) } ?? 1_500

    /// A report with every member.
    static func report() -> ProcessReport {
        let input = ProcessReport.Input(
            kind: "port", madeAt: "A/a.swift:1", modes: ["default"], dueIn: 5, interval: 6, missed: 1,
            count: 4,
            limit: 8, waitingSenders: 1, descriptor: 3, counts: [.init(name: "dropped", value: 2)])
        var timer = input
        timer.kind = "timer"
        var source = input
        source.kind = "descriptor"
        let loop = ProcessReport.Loop(
            name: "loop", threadID: 7, isMain: true, isBlocked: true,
            call: .init(kind: "block", madeAt: "A/a.swift:2", nanoseconds: 9), busyNanoseconds: 8,
            pendingCount: 3,
            counts: .init(values: [
                .passes: 1, .messages: 2, .wakeUps: 3, .kernelCalls: 4, .timerFires: 5, .busyTime: 6,
                .processorTime: 7,
            ]),
            details: .init(
                mode: "default", depth: 2, commonModes: ["default"], inputs: [input, timer, source]))
        var lengths = Histogram()
        for time: Int64 in [1, 3, 3] { lengths.add(time) }
        return ProcessReport(
            processID: 1, program: "program", date: 10, loops: [loop, loop],
            waits: [
                .init(
                    loop: "loop", operation: "join", madeAt: "A/a.swift:3", waitsFor: ["x"],
                    hasDeadline: false,
                    isInCircle: true)
            ],
            recent: .init(
                covered: 4,
                handlers: [
                    .init(
                        kind: "block", madeAt: "A/a.swift:4", count: 1, total: 2, longest: 3, longestWait: 4)
                ], lengths: lengths, waits: lengths, latenesses: Histogram(), drops: 1))
    }

    /// A copy of JSON in which some numbers and texts are others.
    private static func changed(_ json: String, _ random: inout SplitMix64, share: Int) -> String {
        let numbers = [
            "9223372036854775807", "-9223372036854775808", "9223372036854775806", "0", "-1", "2147483647",
            "999999999", "1e3", "99999999999999999999",
        ]
        let texts = ["\\u001b]0;OWNED\\u0007", "\u{9B}2J\u{202E}", "a\\r\\nb\u{2028}", "", "thread"]
        // No text of the report contains punctuation of JSON, except colons in places of the source.
        var tokens: [Substring] = []
        var rest = json[...]
        while let first = rest.first {
            let end =
                first == "\""
                ? rest.dropFirst().firstIndex(of: "\"").map { rest.index(after: $0) } ?? rest.endIndex
                : rest.dropFirst().firstIndex { !$0.isNumber || !first.isNumber && first != "-" }
                    ?? rest.endIndex
            tokens.append(rest[..<end])
            rest = rest[end...]
        }
        for index in tokens.indices where Int.random(in: 0..<share, using: &random) == 0 {
            let isKey = index + 1 < tokens.count && tokens[index + 1] == ":"
            if tokens[index].hasPrefix("\"") && !isKey {
                tokens[index] = "\"\(texts.randomElement(using: &random) ?? "")\""
            } else if tokens[index].last?.isNumber == true {
                // Beyond the first seven are those that no report can have.
                let most = Int.random(in: 0..<60, using: &random) == 0 ? numbers.count : 7
                tokens[index] = numbers[Int.random(in: 0..<most, using: &random)][...]
            }
        }
        return tokens.joined()
    }

    // Guarantees: No text of another process has a character that a terminal obeys.
    @Test func `whatever numbers and texts a report has, its forms are made, and are harmless`() throws {
        let original = Self.report().json
        var (read, earlier) = (0, Self.report())
        for seed in 0..<Self.seeds {
            var random = SplitMix64(seed: seed)
            // A number of 64 bits does not fit everywhere, so most numbers of most reports stay.
            let json = Self.changed(original, &random, share: [3, 8, 20, 40][Int(seed % 4)])
            let report: ProcessReport
            do { report = try ProcessReport(json: json) } catch { continue }
            read += 1
            for text in [
                report.text(since: earlier, width: 80), report.text(width: 20), report.prometheusText,
                report.json,
            ] {
                let isHarmless = text.unicodeScalars.allSatisfy {
                    $0 == "\n"
                        || $0.value >= 0x20 && !(0x7f...0x9f ~= $0.value) && $0 != "\u{202E}"
                            && $0 != "\u{2028}"
                }
                #expect(isHarmless, "seed \(seed)")
            }
            earlier = report
        }
        #expect(read > Int(Self.seeds) / 4)
    }

    @Test func `JSON with changed bytes is a report, or an error`() {
        let bytes = Array(Self.report().json.utf8)
        for seed in 0..<Self.seeds {
            var random = SplitMix64(seed: seed)
            var changed = bytes
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                let index = Int.random(in: 0..<changed.count, using: &random)
                switch Int.random(in: 0..<3, using: &random) {
                case 0: changed[index] = .random(in: 0...255, using: &random)
                case 1: changed.removeSubrange(index..<min(changed.count, index + 3))
                default: changed.insert(contentsOf: Array("9999999999".utf8), at: index)
                }
            }
            do { _ = try ProcessReport(json: changed).text() } catch {}
        }
    }

    @Test(
        arguments: [
            "{\"count\":1,\"sum\":1,\"longest\":1,\"buckets\":[2]}",
            "{\"count\":-1,\"sum\":1,\"longest\":1,\"buckets\":[-1]}",
            "{\"count\":9223372036854775807,\"sum\":1,\"longest\":1,\"buckets\":[9223372036854775807]}",
            "{\"count\":0,\"sum\":0,\"longest\":0,\"buckets\":[\(Array(repeating: "0", count: 2_000).joined(separator: ","))]}",
        ])
    func `a histogram that is none is refused`(json: String) {
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode(Histogram.self, from: Data(json.utf8))
        }
    }

    @Test func `the sums and differences of a report are clamped`() {
        #expect(
            Int64.max.clampedSum(1) == .max && Int64.min.clampedSum(-1) == .min
                && (5 as Int).clampedSum(-7) == -2)
        #expect(Int64.max.clampedDifference(-1) == .max && Int64.min.clampedDifference(1) == .min)
        #expect(Int(clampedRounding: 1e300) == .max && Int(clampedRounding: -1e300) == .min)
        #expect(Int(clampedRounding: .nan) == 0 && Int(clampedRounding: 2.5) == 3)
    }
}
