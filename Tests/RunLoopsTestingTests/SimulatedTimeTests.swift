import Notifications
import RunLoops
import RunLoopsTesting
import TestExpectations
import TestSupport
import Testing

/// A clock that the test moves, and the work that becomes due.
@Suite struct SimulatedTimeTests {
    // Guarantees: Time passes in a simulation only where the body moves the clock or waits.
    @Test func `a timer of a day fires each hour at its date, and no time passes`() throws {
        try RunLoopSimulation.run { simulation in
            let start = simulation.now
            var fires: [Duration] = []
            Timer.scheduledTimer(withTimeInterval: .seconds(3_600), repeats: true) { timer in
                fires.append(start.duration(to: simulation.now))
                #expect(timer.missedFireCount == 0)
            }
            simulation.settle()
            #expect(fires.isEmpty)
            simulation.advance(by: .seconds(3_599))
            #expect(fires.isEmpty)
            simulation.advance(by: .seconds(86_400 - 3_599))
            #expect(fires == (1...24).map { .seconds(3_600 * $0) })
            #expect(start.duration(to: simulation.now) == .seconds(86_400))
        }
    }

    @Test func `a poster that waits for room waits on the simulation's clock`() throws {
        try RunLoopSimulation.run { simulation in
            simulation.advance(by: .seconds(3_600))
            let thread = try RunLoopThread(name: "receiver")
            let center = NotificationCenter()
            let log = Log<Int>()
            let token = center.addObserver(
                forName: nil, on: thread.runLoop, capacity: .bounded(1, .block(atMost: .seconds(5)))
            ) { log.add($0.userInfo["number"] as? Int ?? -1) }
            for number in 0..<3 { center.post(name: .init("a"), userInfo: ["number": number]) }
            simulation.settle()
            #expect(log.entries == [0, 1, 2])
            #expect(token.statistics?.dropped == 0)
            token.remove()
        }
    }

    // Guarantees: At each date on the way, all loops have done what they can before the clock moves on.
    @Test func `timers fire in the order of their dates, also those that others set on the way`() throws {
        try RunLoopSimulation.run { simulation in
            var fired: [String] = []
            let loop = RunLoop.current
            func set(_ name: String, after delay: Duration, then: @escaping () -> Void = {}) {
                let timer = Timer(timeInterval: delay, repeats: false) { _ in
                    fired.append(name)
                    then()
                }
                loop.add(timer, forMode: .default)
            }
            set("third", after: .seconds(30)) { set("fifth", after: .seconds(20)) }
            set("first", after: .seconds(10)) { set("second", after: .seconds(10)) }
            set("fourth", after: .seconds(40))
            simulation.advance(by: .seconds(60))
            #expect(fired == ["first", "second", "third", "fourth", "fifth"])
        }
    }

    @Test func `after a jump timers are late, and missed fires are counted`() throws {
        try RunLoopSimulation.run { simulation in
            var fires = 0
            let timer = Timer.scheduledTimer(withTimeInterval: .seconds(1), repeats: true) { _ in fires += 1 }
            simulation.jump(by: .milliseconds(10_500))
            #expect(fires == 1)
            #expect(timer.missedFireCount == 9)
            #expect(timer.fireDate == simulation.now + .milliseconds(500))
        }
    }

    @Test func `blocks that are performed after a delay follow the clock, and can be cancelled`() throws {
        try RunLoopSimulation.run { simulation in
            let ran = Log<Int>()
            let loop = RunLoop.current
            loop.perform(after: .seconds(5)) { ran.add(1) }
            let second = loop.perform(after: .seconds(10)) { ran.add(2) }
            simulation.advance(by: .seconds(5))
            #expect(ran.entries == [1])
            #expect(second.cancel() == .cancelled)
            simulation.advance(by: .seconds(100))
            #expect(ran.entries == [1])
        }
    }

    // Guarantees: Time passes in a simulation only where the body moves the clock or waits.
    @Test func `a run with a deadline lets time pass until then`() throws {
        try RunLoopSimulation.run { simulation in
            let start = simulation.now
            let loop = RunLoop.current
            var ticks = 0
            Timer.scheduledTimer(withTimeInterval: .seconds(60), repeats: true) { _ in ticks += 1 }
            #expect(loop.run(in: .default, until: RunLoop.now + .seconds(600)) == .timedOut)
            #expect(ticks == 10)
            #expect(simulation.now == start + .seconds(600))
            loop.perform { loop.run(until: RunLoop.now + .seconds(60)) }
            simulation.settle()
            #expect(simulation.now == start + .seconds(660))
        }
    }

    // Guarantees: At each date on the way, all loops have done what they can before the clock moves on.
    @Test func `what waits for an idle loop is done when all is done`() throws {
        try RunLoopSimulation.run { simulation in
            let posted = Log<String>()
            let center = NotificationCenter()
            let queue = NotificationQueue(notificationCenter: center)
            let token = center.addObserver(forName: nil) { posted.add($0.name.rawValue) }
            queue.enqueue(Notification(name: .init("idle")), postingStyle: .whenIdle)
            queue.enqueue(Notification(name: .init("soon")), postingStyle: .asap)
            let keepAlive = Timer(timeInterval: .seconds(1), repeats: true) { _ in }
            RunLoop.current.add(keepAlive, forMode: .default)
            RunLoop.current.perform { posted.add("block") }
            simulation.settle()
            #expect(posted.entries == ["block", "soon", "idle"])
            token.remove()
        }
    }

    @Test func `one pass is one pass`() throws {
        try RunLoopSimulation.run { simulation in
            let source = Shared()
            let again = ManualSource { source.increment() }
            RunLoop.current.add(again, forMode: .default)
            for count in 1...3 {
                again.signal()
                simulation.pass()
                #expect(source.count == count)
            }
            simulation.pass()
            #expect(source.count == 3)
        }
    }

    // Guarantees: Threads that are in no simulation have the system's clock, and run as always.
    @Test func `other threads have the clock of the system`() throws {
        try RunLoopSimulation.run { simulation in
            simulation.jump(by: .seconds(1_000_000))
            let others = Log<ContinuousClock.Instant>()
            let thread = try BareThread { others.add(RunLoop.now) }
            thread.join()
            #expect(others.entries.allSatisfy { $0 < simulation.now - .seconds(900_000) })
            #expect(RunLoop.now == simulation.now)
        }
        #expect(RunLoop.now <= ContinuousClock.now)
    }

    @Test func `the thread has its own loop back afterwards`() throws {
        try onLoopThread { loop in
            let ran = Log<Bool>()
            loop.perform { ran.add(true) }
            let other = try RunLoopSimulation.run { simulation in
                #expect(RunLoop.current != loop)
                #expect(!loop.isCurrent)
                simulation.settle()
                return RunLoop.current
            }
            #expect(RunLoop.current == loop)
            #expect(ran.entries.isEmpty)
            // The other loop has ended.
            #expect(!other.perform {})
            loop.run(until: .now)
            #expect(ran.entries == [true])
        }
    }

    @Test func `a body that throws ends its simulation, and whoever runs it gets the error`() throws {
        struct Stop: Error {}
        let ended = Gate()
        #expect(throws: Stop.self) {
            try RunLoopSimulation.run { _ in
                let thread = try RunLoopThread(name: "worker")
                thread.runLoop.perform { RunLoop.current.addEndHandler { ended.open() } }
                try thread.runLoop.performAndWait {}
                throw Stop()
            }
        }
        #expect(ended.wait())
    }
}
