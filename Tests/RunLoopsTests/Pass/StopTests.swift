import RunLoops
import TestSupport
import Testing

/// Ends of runs and sleeps that code outside the run causes.
@Suite struct StopTests {
    private let other = RunLoop.Mode("other")

    private func addPort(to loop: RunLoop, _ mode: RunLoop.Mode = .default) {
        loop.add(Port<Int>(), forMode: mode) { _ in }
    }

    @Test func `a stop from another thread ends a sleeping run`() throws {
        let aboutToSleep = Gate()
        let stopped = Gate()
        try RunLoopThread.detach(name: "stopped") { loop in
            addPort(to: loop)
            let observer = RunLoop.Observer(activities: .beforeWaiting) { _, _ in
                ready(loop, aboutToSleep)
            }
            loop.add(observer, forMode: .default)
            #expect(loop.run(in: .default) == .stopped)
            stopped.open()
        }
        #expect(aboutToSleep.wait())
        #expect(stopped.wait())
    }

    /// Has another thread stop the loop.
    private func ready(_ loop: RunLoop, _ gate: Gate) {
        #expect(throws: Never.self) {
            try RunLoopThread.detach(name: "stopper") { _ in
                gate.open()
                loop.stop()
            }
        }
    }

    // Guarantees: A stop or a wake-up that is sent while the loop does not run acts on the next run, once.
    @Test func `a stop between two runs ends the next one before its first pass, once`() throws {
        try onLoopThread { loop in
            var activities: [RunLoop.Activity] = []
            addPort(to: loop)
            loop.add(RunLoop.Observer(activities: .all) { activities.append($1) }, forMode: .default)
            loop.stop()
            loop.stop()
            #expect(loop.run(in: .default) == .stopped)
            #expect(activities == [.entry, .exit])
            #expect(loop.run(in: .default, until: .distantPast) == .timedOut)
        }
    }

    @Test func `a stop that waits ends the run of an empty mode as stopped`() throws {
        try onLoopThread { loop in
            loop.stop()
            #expect(loop.run(in: .default) == .stopped)
            #expect(loop.run(in: .default) == .finished)
        }
    }

    @Test func `a stop by an entry observer ends the run before its first pass`() throws {
        try onLoopThread { loop in
            addPort(to: loop)
            loop.add(RunLoop.Observer(activities: .entry) { _, _ in loop.stop() }, forMode: .default)
            #expect(loop.run(in: .default) == .stopped)
            #expect(loop.statistics.passes == 0)
        }
    }

    @Test func `a stop in a handler lets the pass finish its steps`() throws {
        try onLoopThread { loop in
            let log = Log<String>()
            let port = Port<Int>()
            loop.add(port, forMode: .default) { _ in
                log.add("port")
                loop.perform { log.add("block") }
            }
            try port.send(1)
            loop.add(
                Timer(fireAt: .now, interval: .zero, repeats: false) { _ in
                    log.add("timer")
                    loop.stop()
                }, forMode: .default)
            #expect(loop.run(in: .default) == .stopped)
            #expect(log.entries == ["timer", "port", "block"])
        }
    }

    @Test func `a stop ends the innermost run only`() throws {
        try onLoopThread { loop in
            let log = Log<RunLoop.RunResult>()
            addPort(to: loop)
            addPort(to: loop, other)
            loop.perform {
                loop.perform(inModes: [other]) { loop.stop() }
                log.add(loop.run(in: other))
                loop.perform { log.add(.finished) }
            }
            log.add(loop.run(in: .default, until: .now + .milliseconds(2)))
            #expect(log.entries == [.stopped, .finished, .timedOut])
        }
    }

    @Test func `a stop in a run that ends for another reason does not end the outer one`() throws {
        try onLoopThread { loop in
            let log = Log<RunLoop.RunResult>()
            addPort(to: loop)
            addPort(to: loop, other)
            loop.perform {
                loop.perform(inModes: [other]) { loop.stop() }
                log.add(loop.run(in: other, until: .distantPast))
            }
            log.add(loop.run(in: .default, until: .now + .milliseconds(2)))
            #expect(log.entries == [.timedOut, .timedOut])
        }
    }

    // Guarantees: A stop that is sent while the loop runs ends no run other than the one that is innermost at that moment.
    @Test func `a stop in an outermost run that ends for another reason does not end the next one`() throws {
        try onLoopThread { loop in
            addPort(to: loop)
            loop.perform { loop.stop() }
            #expect(loop.run(in: .default, until: .distantPast) == .timedOut)
            #expect(loop.run(in: .default, until: .distantPast) == .timedOut)
            let source = ManualSource { loop.stop() }
            loop.add(source, forMode: .default)
            source.signal()
            #expect(loop.run(mode: .default, before: .distantFuture))
            #expect(loop.run(in: .default, until: .distantPast) == .timedOut)
        }
    }

    @Test func `a stop by an exit observer is for the run that ends`() throws {
        try onLoopThread { loop in
            addPort(to: loop)
            let observer = RunLoop.Observer(activities: .exit, repeats: false) { _, _ in loop.stop() }
            loop.add(observer, forMode: .default)
            #expect(loop.run(in: .default, until: .distantPast) == .timedOut)
            #expect(!observer.isValid)
            #expect(loop.run(in: .default, until: .distantPast) == .timedOut)
        }
    }

    @Test func `a stop from another thread during the exit observers is for the run that ends`() throws {
        try onLoopThread { loop in
            addPort(to: loop)
            let stopped = Gate()
            let observer = RunLoop.Observer(activities: .exit, repeats: false) { _, _ in
                #expect(throws: Never.self) {
                    try RunLoopThread.detach(name: "stopper") { _ in
                        loop.stop()
                        stopped.open()
                    }
                }
                #expect(stopped.wait())
            }
            loop.add(observer, forMode: .default)
            #expect(loop.run(in: .default, until: .distantPast) == .timedOut)
            #expect(loop.run(in: .default, until: .distantPast) == .timedOut)
        }
    }

    @Test func `a stop before a handler runs the loop is for the outer run, not for the inner one`() throws {
        try onLoopThread { loop in
            let log = Log<RunLoop.RunResult>()
            addPort(to: loop)
            addPort(to: loop, other)
            loop.perform {
                loop.stop()
                log.add(loop.run(in: other, until: .now + .milliseconds(2)))
                log.add(loop.run(in: RunLoop.Mode("empty")))
            }
            log.add(loop.run(in: .default))
            #expect(log.entries == [.timedOut, .finished, .stopped])
            #expect(loop.run(in: .default, until: .distantPast) == .timedOut)
        }
    }

    // Guarantees: A stop that is sent while the loop runs ends no run other than the one that is innermost at that moment.
    @Test func `each of two runs has the stop that was sent while it was the innermost`() throws {
        try onLoopThread { loop in
            let log = Log<RunLoop.RunResult>()
            addPort(to: loop)
            addPort(to: loop, other)
            loop.perform {
                loop.stop()
                loop.perform(inModes: [other]) { loop.stop() }
                log.add(loop.run(in: other))
            }
            log.add(loop.run(in: .default))
            #expect(log.entries == [.stopped, .stopped])
            #expect(loop.run(in: .default, until: .distantPast) == .timedOut)
        }
    }

    @Test func `a stop by the exit observer of an inner run does not end the outer one`() throws {
        try onLoopThread { loop in
            let log = Log<RunLoop.RunResult>()
            addPort(to: loop)
            addPort(to: loop, other)
            loop.add(RunLoop.Observer(activities: .exit) { _, _ in loop.stop() }, forMode: other)
            loop.perform { log.add(loop.run(in: other, until: .distantPast)) }
            log.add(loop.run(in: .default, until: .now + .milliseconds(2)))
            #expect(log.entries == [.timedOut, .timedOut])
        }
    }

    @Test func `a stop that waits is for the next run, also one that accepts input or asks for a date`()
        throws
    {
        try onLoopThread { loop in
            let log = Log<Int>()
            let port = Port<Int>()
            loop.add(port, forMode: .default) { log.add($0) }
            try port.send(1)
            loop.stop()
            loop.run(mode: .default, before: .distantFuture)
            #expect(log.entries == [])
            loop.stop()
            #expect(loop.limitDate(forMode: .default) == .distantFuture)
            #expect(log.entries == [])
            loop.run(mode: .default, before: .distantFuture)
            #expect(log.entries == [1])
        }
    }

    // Guarantees: A stop or a wake-up that is sent while the loop does not run acts on the next run, once.
    @Test func `a wake-up between two runs is one pass without sleep`() throws {
        try onLoopThread { loop in
            var activities: [RunLoop.Activity] = []
            addPort(to: loop)
            let seen: RunLoop.Activity = [.beforeTimers, .beforeWaiting]
            let observer = RunLoop.Observer(activities: seen) { _, activity in
                activities.append(activity)
                if activity == .beforeWaiting { loop.stop() }
            }
            loop.add(observer, forMode: .default)
            loop.wakeUp()
            loop.wakeUp()
            #expect(loop.run(in: .default) == .stopped)
            #expect(activities == [.beforeTimers, .beforeTimers, .beforeWaiting])
            activities = []
            #expect(loop.run(in: .default) == .stopped)
            #expect(activities == [.beforeTimers, .beforeWaiting])
        }
    }

    @Test func `a wake-up makes a sleeping loop go round, and does not end the run`() throws {
        let thread = try RunLoopThread(name: "woken")
        let sleeps = (0..<3).map { _ in Gate() }
        try thread.runLoop.performAndWait {
            var count = 0
            let observer = RunLoop.Observer(activities: .beforeWaiting) { _, _ in
                if count < sleeps.count { sleeps[count].open() }
                count += 1
            }
            RunLoop.current.add(observer, forMode: .default)
        }
        for sleep in sleeps {
            #expect(sleep.wait())
            thread.runLoop.wakeUp()
        }
        thread.stop()
        #expect(thread.join(before: .now + .seconds(30)))
    }

    @Test func `a plain run can be stopped`() throws {
        try onLoopThread { loop in
            addPort(to: loop)
            loop.perform { loop.stop() }
            loop.run()
            loop.perform { loop.stop() }
            loop.run(until: .distantFuture)
            #expect(loop.statistics.passes >= 2)
        }
    }
}
