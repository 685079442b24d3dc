import RunLoops
import RunLoopsTesting
import TestSupport
import Testing

/// The clock of a simulation stops before the distant future, which stands for never.
@Suite struct EndOfTimeTests {
    private static let longest = Duration.nanoseconds(Int64.max)

    @Test(arguments: [false, true])
    func `what is suspended stays suspended, however far the clock moves`(jumps: Bool) throws {
        try RunLoopSimulation.run { simulation in
            let log = Log<String>()
            let suspended = Timer(timeInterval: .seconds(1), repeats: false) { _ in log.add("timer") }
            suspended.fireDate = .distantFuture
            RunLoop.current.add(suspended, forMode: .default)
            let never = RunLoop.current.perform(after: EndOfTimeTests.longest) { log.add("block") }
            for _ in 0..<3 {
                if jumps {
                    simulation.jump(by: EndOfTimeTests.longest)
                } else {
                    simulation.advance(by: EndOfTimeTests.longest)
                }
            }
            #expect(simulation.now < .distantFuture)
            #expect(log.entries.isEmpty)
            #expect(never.isPending && suspended.isValid)
        }
    }

    @Test(arguments: [false, true])
    func `a timer that repeats until the end of time ends`(jumps: Bool) throws {
        try RunLoopSimulation.run { simulation in
            let fires = Log<Int>()
            Timer.scheduledTimer(withTimeInterval: .seconds(365 * 86_400), repeats: true) { _ in fires.add(1)
            }
            if jumps {
                simulation.jump(by: EndOfTimeTests.longest)
                #expect(fires.entries.count == 1)
            } else {
                simulation.advance(by: EndOfTimeTests.longest)
                #expect((290...292).contains(fires.entries.count))
            }
        }
    }

    @Test func `a wait without an end is not over at the end of time`() throws {
        try RunLoopSimulation.run { simulation in
            let log = Log<String>()
            let thread = try RunLoopThread(name: "waits")
            thread.runLoop.perform {
                let suspended = Timer(fireAt: .distantFuture, interval: .zero, repeats: false) { _ in }
                RunLoop.current.add(suspended, forMode: RunLoop.Mode("other"))
                let result = RunLoop.current.run(in: RunLoop.Mode("other"), until: .distantFuture)
                log.add("\(result)")
            }
            thread.runLoop.perform(inModes: [RunLoop.Mode("other")]) { log.add("block") }
            simulation.advance(by: EndOfTimeTests.longest)
            #expect(log.entries == ["block"])
            thread.stop()
        }
    }
}
