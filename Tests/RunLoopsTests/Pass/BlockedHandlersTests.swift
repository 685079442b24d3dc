import Testing

@testable import RunLoops

/// The detection of calls that last too long, without threads or clocks.
@Suite struct BlockedHandlersTests {
    private typealias Handlers = BlockedHandlers<String>
    private typealias Looks = [String: (look: HandlerRecord.Look, sequence: UInt64)]

    /// A watchdog that checks one loop every 25 units, with a threshold of 100.
    private struct Watch {
        var handlers = Handlers(threshold: 100, interval: 25)
        var now = Moment(nanoseconds: 1_000_000)

        /// The next check after an interval, when the loop is in the call with this number, or in none.
        mutating func look(_ number: Int?, after interval: Int64 = 25, sequence: UInt64 = 0) -> [Handlers
            .Finding]
        {
            now = now.advanced(by: interval)
            guard let number else { return handlers.look([:], now: now) }
            return handlers.look(["loop": (call(number), sequence)], now: now)
        }
    }

    private static func call(_ number: Int) -> HandlerRecord.Look {
        HandlerRecord.Look(call: HandlerRecord.Call(.timer, 7, number: number))
    }

    @Test func `a call is told of once it was seen for as long as the threshold`() {
        var watch = Watch()
        for _ in 0..<4 { #expect(watch.look(1).isEmpty) }
        let findings = watch.look(1)
        #expect(findings.map(\.phase) == [.blocked])
        #expect(findings.first?.nanoseconds == 100)
        #expect(findings.first?.look == BlockedHandlersTests.call(1))
    }

    @Test func `it is told of again each time that it has lasted twice as long`() {
        var watch = Watch()
        let told = (0..<70).filter { _ in !watch.look(1).isEmpty }
        // Reported after 100, 200, 400, 800 and 1,600 units.
        #expect(told == [4, 8, 16, 32, 64])
        var phases: [RunLoopWatchdog.Report.Phase] = []
        watch = Watch()
        for _ in 0..<10 { phases += watch.look(1).map(\.phase) }
        #expect(phases == [.blocked, .stillBlocked])
    }

    @Test(arguments: [nil, 2]) func `the end of a call that was told of is told of`(next: Int?) {
        var watch = Watch()
        for _ in 0..<6 { _ = watch.look(1) }
        let findings = watch.look(next)
        #expect(findings.map(\.phase) == [.ended])
        #expect(findings.first?.nanoseconds == 125)
        #expect(findings.first?.look == BlockedHandlersTests.call(1))
        #expect(watch.look(next).isEmpty)
    }

    @Test func `calls that follow each other are nothing, however long it goes on`() {
        var watch = Watch()
        for number in 1...1_000 { #expect(watch.look(number).isEmpty) }
        // A call that ends before the threshold is not reported either.
        for _ in 0..<4 { #expect(watch.look(1_001).isEmpty) }
        #expect(watch.look(nil).isEmpty)
    }

    // Guarantees: A handler is not reported for the time in which it runs the loop, nor for time in which the whole process was
    // halted.
    @Test func `time for which nobody could look does not count`() {
        var watch = Watch()
        _ = watch.look(1)
        // The machine was suspended, or the process stopped. The time counts as two intervals.
        #expect(watch.look(1, after: 1_000_000).isEmpty)
        #expect(watch.look(1).isEmpty)
        #expect(watch.look(1).map(\.nanoseconds) == [100])
    }

    @Test func `each loop has its own call`() {
        var handlers = Handlers(threshold: 100, interval: 25)
        var now = Moment(nanoseconds: 0)
        var told: [String] = []
        for step in 0..<6 {
            now = now.advanced(by: 25)
            var looks: Looks = ["first": (BlockedHandlersTests.call(1), 0)]
            if step > 0 { looks["second"] = (BlockedHandlersTests.call(1), 0) }
            told += handlers.look(looks, now: now).map(\.key)
        }
        #expect(told == ["first", "second"])
    }

    @Test func `what was sent is counted from the first look on`() {
        var watch = Watch()
        _ = watch.look(1, sequence: 5)
        for sequence in 6...8 { _ = watch.look(1, sequence: UInt64(sequence)) }
        #expect(watch.look(1, sequence: 9).map(\.sequence) == [5])
    }

    @Test(arguments: RunLoop.HandlerKind.allCases)
    func `a call is one word that says what it is and which line`(
        kind: RunLoop.HandlerKind
    ) {
        let call = HandlerRecord.Call(kind, 16_000_000, number: 12)
        #expect(call.kind == kind)
        #expect(call.line == 16_000_000)
        #expect(call.bits != 0)
        #expect(call != HandlerRecord.Call(kind, 16_000_000, number: 13))
    }

    @Test(
        arguments: [
            // The length of a call, the time between two looks, and the length to report, in milliseconds.
            (1_464, 50, 1_450), (200, 50, 200), (249, 50, 200), (1_099, 99, 1_050), (1_099, 100, 1_000),
            (1_477, 25, 1_460), (7, 1, 7), (1_999, 10, 1_990), (3_600_100, 900_000, 3_500_000),
        ] as [(Int64, Int64, Int64)])
    func `a length is rounded down to what is known`(length: Int64, interval: Int64, known: Int64) {
        func finding(_ nanoseconds: Int64) -> Handlers.Finding {
            Handlers.Finding(
                key: "loop", look: BlockedHandlersTests.call(1), phase: .ended, nanoseconds: nanoseconds,
                sequence: 0)
        }
        let (more, rounded): (Int64, Int64) = (10_694, 1_000_000)
        #expect(
            finding(length * rounded + more).knownNanoseconds(every: interval * rounded, threshold: 1)
                == known * rounded)
        // A call that is reported has lasted for the threshold.
        #expect(
            finding(333_000_010).knownNanoseconds(every: 83_250_000, threshold: 333_000_000)
                == 333_000_000)
        #expect(finding(.max).knownNanoseconds(every: .max / 4, threshold: .max) == .max)
    }
}
