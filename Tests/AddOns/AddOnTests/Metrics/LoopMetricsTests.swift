import Metrics
import MetricsTestKit
import RunLoops
import RunLoopsMetrics
import Testing

extension AddOns {
    @Suite struct LoopMetricsTests {
        private let factory = TestMetrics()

        private func metrics(recorder: FlightRecorder? = nil) throws -> RunLoopMetrics {
            try RunLoopMetrics(every: .seconds(3_600), recorder: recorder, factory: factory)
        }

        private func total(_ label: String, _ loop: String) -> Int64 {
            factory.counterTotal(label: label, dimensions: [("loop", loop)])
        }

        private func meter(_ label: String, _ dimensions: [(String, String)]) -> Double? {
            try? factory.expectMeter(label, dimensions).lastValue
        }

        /// Fires timers on a loop.
        private func fire(_ times: Int, on thread: RunLoopThread) async throws {
            for _ in 0..<times {
                await withCheckedContinuation { fired in
                    thread.runLoop.perform(after: .zero) { fired.resume() }
                }
            }
            // A fire is counted after its handler has returned.
            try await thread.runLoop.performAndWait {}
        }

        // Guarantees: A counter grows by the amount that its loop has counted, and each increase is added once.
        @Test func `a counter has the counts of its loop, each growth once`() async throws {
            try await withThread("counted") { thread in
                let metrics = try metrics()
                for round in 1...3 {
                    try await fire(2, on: thread)
                    await metrics.update()
                    #expect(total("run_loop_timer_fires_total", "counted") == 2 * Int64(round))
                }
                let before = total("run_loop_messages_total", "counted")
                for _ in 0..<1_000 { thread.runLoop.perform {} }
                try await thread.runLoop.performAndWait {}
                await metrics.update()
                // The metrics themselves send some messages to the loop.
                #expect((1_000...1_020).contains(total("run_loop_messages_total", "counted") - before))
                await metrics.update()
                let statistics = thread.runLoop.statistics
                #expect((1...Int64(statistics.passes)).contains(total("run_loop_passes_total", "counted")))
                #expect((1...Int64(statistics.wakeUps)).contains(total("run_loop_wakeups_total", "counted")))
                #expect(
                    (1...Int64(statistics.kernelCalls + statistics.kernelWrites)).contains(
                        total("run_loop_kernel_calls_total", "counted")))
            }
        }

        @Test func `loops of one name are added up, and a loop without a name has that of its thread`()
            async throws
        {
            let metrics = try metrics()
            for _ in 0..<2 {
                try await withThread("twin") { thread in
                    try await withThread("twin") { other in
                        try await fire(1, on: thread)
                        try await fire(2, on: other)
                        await metrics.update()
                        #expect(meter("run_loop_pending", [("loop", "twin")]) == 0)
                    }
                }
                await metrics.update()
            }
            // The sum includes loops that have ended, and loops that began later.
            #expect(total("run_loop_timer_fires_total", "twin") == 6)
            #expect(meter("run_loop_pending", [("loop", "twin")]) == nil)
            let label = try await withThread("") { thread in
                await metrics.update()
                return try await thread.runLoop.performAndWait { "thread-\(RunLoop.current.threadID)" }
            }
            #expect(total("run_loop_passes_total", label) > 0)
        }

        @Test func `busy time is counted in seconds`() async throws {
            let fractions = FractionalMetrics(factory)
            let recorder = try FlightRecorder()
            defer { recorder.stop() }
            try await withThread("busy") { thread in
                let metrics = try RunLoopMetrics(
                    every: .seconds(3_600), recorder: recorder, factory: fractions)
                try await thread.runLoop.performAndWait {}
                for _ in 0..<2 {
                    try await thread.runLoop.performAndWait {
                        let end = ContinuousClock.now + .milliseconds(30)
                        while ContinuousClock.now < end {}
                    }
                    await metrics.update()
                }
                let recorded = try factory.expectRecorder("run_loop_busy_seconds_total", [("loop", "busy")])
                let sum = recorded.values.reduce(0, +)
                #expect(sum >= 0.059)
                // The sum has rounding errors.
                #expect(.seconds(sum - 1e-6) <= thread.runLoop.statistics.busyTime)
            }
        }

        @Test func `a port has its depth and its waiting senders, until it has gone`() async throws {
            let metrics = try metrics()
            let port = Port<Int>(queueLimit: 3)
            let place = "AddOnTests/LoopMetricsTests.swift:\(#line - 1)"
            let labels = [("loop", "ports"), ("port", place)]
            try await withThread("ports") { thread in
                try await withThread("sender") { sender in
                    try await thread.runLoop.performAndWait {
                        RunLoop.current.add(port, forMode: RunLoop.Mode("later")) { _ in }
                    }
                    sender.runLoop.perform { for number in 0..<4 { try? port.send(number) } }
                    try await eventually { port.waitingSenderCount == 1 }
                    await metrics.update()
                    #expect(meter("run_loop_port_depth", labels) == 3)
                    #expect(meter("run_loop_port_waiting_senders", labels) == 1)
                    try await thread.runLoop.performAndWait {
                        _ = RunLoop.current.run(mode: RunLoop.Mode("later"), before: .now + .seconds(60))
                    }
                }
                await metrics.update()
                #expect(meter("run_loop_port_waiting_senders", labels) == 0)
                try await thread.runLoop.performAndWait { port.invalidate() }
                await metrics.update()
                #expect(meter("run_loop_port_depth", labels) == nil)
            }
        }

        // Guarantees: A loop that one handler blocks is reported as blocked, and the metrics of its ports stay.
        @Test func `a loop that one handler blocks is said to be blocked, and keeps the meters of its ports`()
            async throws
        {
            let recorder = try FlightRecorder()
            defer { recorder.stop() }
            try recorder.reportSlowHandlers(over: .seconds(3_600)) { _, _ in }
            let metrics = try metrics(recorder: recorder)
            try await withThread("stuck") { thread in
                let port = Port<Int>(queueLimit: 3)
                let labels = [
                    ("loop", "stuck"), ("port", "AddOnTests/LoopMetricsTests.swift:\(#line - 2)"),
                ]
                try await thread.runLoop.performAndWait {
                    RunLoop.current.add(port, forMode: RunLoop.Mode("later")) { _ in }
                }
                await metrics.update()
                #expect(meter("run_loop_blocked", [("loop", "stuck")]) == 0)
                let (entered, released) = (Gate(), Gate())
                thread.runLoop.perform {
                    entered.open()
                    released.wait()
                }
                entered.wait()
                await metrics.update()
                #expect(meter("run_loop_blocked", [("loop", "stuck")]) == 1)
                #expect(meter("run_loop_port_depth", labels) == 0)
                released.open()
                try await thread.runLoop.performAndWait {}
                await metrics.update()
                #expect(meter("run_loop_blocked", [("loop", "stuck")]) == 0)
            }
        }

        // Guarantees: An event of the flight recorder is in the timers at most once.
        @Test func `each recorded handler is in the timers once, with its kind, wait and lateness`()
            async throws
        {
            let recorder = try FlightRecorder(detail: .everything)
            defer { recorder.stop() }
            let metrics = try metrics(recorder: recorder)
            try await withThread("recorded") { thread in
                func values(_ name: String, _ kind: String) -> [Int64] {
                    factory.timers(label: name, dimensions: [("loop", "recorded"), ("kind", kind)])
                        .flatMap(\.values)
                }
                for round in 1...4 {
                    try await fire(3, on: thread)
                    await metrics.update()
                    #expect(values("run_loop_handler_seconds", "timer").count == 3 * round)
                    #expect(values("run_loop_timer_lateness_seconds", "timer").count == 3 * round)
                }
                #expect(values("run_loop_timer_lateness_seconds", "timer").allSatisfy { $0 >= 0 })
                #expect(values("run_loop_post_to_start_seconds", "timer").isEmpty)

                let before = values("run_loop_handler_seconds", "block").count
                for _ in 0..<100 { thread.runLoop.perform {} }
                try await thread.runLoop.performAndWait {
                    let end = ContinuousClock.now + .milliseconds(5)
                    while ContinuousClock.now < end {}
                }
                await metrics.update()
                #expect(values("run_loop_handler_seconds", "block").count >= before + 101)
                #expect(values("run_loop_handler_seconds", "block").contains { $0 >= 5_000_000 })
                #expect(!values("run_loop_post_to_start_seconds", "block").isEmpty)
                let timer = factory.timers(label: "run_loop_handler_seconds").first
                #expect(timer?.displayUnit == .seconds)
            }
        }

        @Test func `updates go on by themselves until they are stopped`() async throws {
            let metrics = try RunLoopMetrics(every: .milliseconds(2), factory: factory)
            var seen = total("run_loop_passes_total", "metrics")
            for _ in 0..<3 {
                try await eventually { total("run_loop_passes_total", "metrics") > seen }
                seen = total("run_loop_passes_total", "metrics")
            }
            metrics.stop()
            await metrics.update()
            seen = total("run_loop_passes_total", "metrics")
            await metrics.update()
            metrics.stop()
            #expect(total("run_loop_passes_total", "metrics") == seen)
        }

        @Test func `an interval of nothing ends the program with advice`() async throws {
            let result = try await #require(
                processExitsWith: .failure, observing: [\.standardErrorContent]
            ) { _ = try RunLoopMetrics(every: .zero) }
            let message = String(decoding: result.standardErrorContent, as: UTF8.self)
            #expect(message.contains("RunLoopMetrics.init: an interval of 0.0 seconds"))
        }
    }
}

/// Metrics that represent floating-point counters as recorders, so that tests can read their values.
private final class FractionalMetrics: MetricsFactory {
    private let metrics: TestMetrics

    init(_ metrics: TestMetrics) { self.metrics = metrics }

    private final class Sum: FloatingPointCounterHandler {
        let recorder: any RecorderHandler
        init(_ recorder: any RecorderHandler) { self.recorder = recorder }
        func increment(by amount: Double) { recorder.record(amount) }
        func reset() {}
    }

    func makeFloatingPointCounter(
        label: String, dimensions: [(String, String)]
    ) -> any FloatingPointCounterHandler {
        Sum(metrics.makeRecorder(label: label, dimensions: dimensions, aggregate: false))
    }

    func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
        metrics.makeCounter(label: label, dimensions: dimensions)
    }

    func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler {
        metrics.makeMeter(label: label, dimensions: dimensions)
    }

    func makeRecorder(
        label: String, dimensions: [(String, String)], aggregate: Bool
    ) -> any RecorderHandler {
        metrics.makeRecorder(label: label, dimensions: dimensions, aggregate: aggregate)
    }

    func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
        metrics.makeTimer(label: label, dimensions: dimensions)
    }

    func destroyCounter(_ handler: any CounterHandler) { metrics.destroyCounter(handler) }
    func destroyMeter(_ handler: any MeterHandler) { metrics.destroyMeter(handler) }
    func destroyRecorder(_ handler: any RecorderHandler) { metrics.destroyRecorder(handler) }
    func destroyTimer(_ handler: any TimerHandler) { metrics.destroyTimer(handler) }
}
