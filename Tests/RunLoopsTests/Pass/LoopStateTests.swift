import Glibc
import TestSupport
import Testing

@testable import RunLoops

/// The state of a loop that any thread can read.
@Suite struct LoopStateTests {
    @Test func `all loops are those that have not ended, in the order in which they were made`() throws {
        let threads = try (0..<3).map { try RunLoopThread(name: "listed \($0)") }
        #expect(RunLoop.all.filter { $0.name.hasPrefix("listed ") } == threads.map(\.runLoop))
        for thread in threads {
            thread.stop()
            thread.join()
        }
        #expect(!RunLoop.all.contains { $0.name.hasPrefix("listed ") })
    }

    @Test func `work that waits is counted until it is begun, in whatever mode`() throws {
        let thread = try RunLoopThread(name: "pending")
        defer { thread.stop() }
        let loop = thread.runLoop
        let (began, goOn, done) = (Gate(), Gate(), Gate())
        loop.perform {
            began.open()
            _ = goOn.wait()
        }
        #expect(began.wait())
        #expect(loop.pendingCount == 0)
        for _ in 0..<10 { loop.perform {} }
        let nothing: @Sendable () -> Void = {}
        loop.perform(contentsOf: Array(repeating: nothing, count: 5))
        loop.perform(inModes: [RunLoop.Mode("never run")]) {}
        #expect(loop.pendingCount == 16)
        loop.perform { done.open() }
        goOn.open()
        #expect(done.wait())
        // The block for the mode that is never run still waits.
        #expect(loop.pendingCount == 1)
        thread.stop()
        thread.join()
        #expect(loop.pendingCount == 0)
    }

    @Test(arguments: [PortQueueLimit.unlimited, 8]) func `the messages of a port are counted`(
        limit: PortQueueLimit
    ) throws {
        try onLoopThread { loop in
            let port = Port<Int>(queueLimit: limit)
            var received: [Int] = []
            loop.add(port, forMode: .default) { message in
                received.append(message)
                #expect(port.count == 7 - received.count)
            }
            for number in 0..<4 { try port.send(number) }
            try port.send(contentsOf: 4..<7)
            #expect(port.count == 7)
            #expect(port.waitingSenderCount == 0)
            while received.count < 7 { loop.run(until: .now) }
            #expect(port.count == 0)
            try port.send(1)
            port.invalidate()
            #expect(port.count == 0)
        }
    }

    @Test func `a port of signals has one or none, and senders that wait are counted`() throws {
        let signals = Port<Void>()
        #expect(signals.count == 0)
        try signals.send()
        try signals.send()
        #expect(signals.count == 1)

        let port = Port<Int>(queueLimit: 2)
        try port.send(contentsOf: [1, 2])
        let thread = try BareThread { try? port.send(3) }
        while port.waitingSenderCount == 0 { sched_yield() }
        #expect(port.count == 2)
        port.invalidate()
        thread.join()
        #expect(port.waitingSenderCount == 0)
    }

    @Test func `busy time is the time of handlers, and not that of sleep`() throws {
        try onLoopThread { loop in
            loop.measuresHandlers = true
            @Sendable func work() {
                let end = ContinuousClock.now + .milliseconds(20)
                while ContinuousClock.now < end {}
            }
            loop.perform(work)
            loop.run(until: .now)
            let worked = loop.statistics.busyTime
            #expect(worked >= .milliseconds(20))
            let before = ContinuousClock.now
            loop.add(Timer(timeInterval: .seconds(3600), repeats: false) { _ in }, forMode: .default)
            loop.run(until: .now + .milliseconds(200))
            let passed = ContinuousClock.now - before
            #expect(loop.statistics.busyTime - worked <= passed - .milliseconds(100))
            // Between runs, too.
            let idle = loop.statistics.busyTime
            #expect(loop.statistics.busyTime == idle)
        }
    }

    @Test func `busy time goes on while a handler is under way, as another thread sees it`() throws {
        RunLoop.beginLooking()
        defer { RunLoop.endLooking() }
        let thread = try RunLoopThread(name: "under way")
        defer { thread.stop() }
        let (began, goOn) = (Gate(), Gate())
        thread.runLoop.perform {
            began.open()
            _ = goOn.wait()
        }
        #expect(began.wait())
        let first = thread.runLoop.statistics.busyTime
        var second = first
        while second == first { second = thread.runLoop.statistics.busyTime }
        #expect(second > first)
        #expect(thread.runLoop.look.busySince != nil)
        #expect(thread.runLoop.look.call?.kind == .block)
        goOn.open()
    }

    @Test func `the processor time is the thread's, and stays when the thread has ended`() throws {
        let thread = try RunLoopThread(name: "working")
        let done = Gate()
        thread.runLoop.perform {
            let end = ContinuousClock.now + .milliseconds(20)
            while RunLoop.current.processorTime < .milliseconds(5) || ContinuousClock.now < end {}
            done.open()
        }
        #expect(done.wait())
        #expect(thread.runLoop.processorTime >= .milliseconds(5))
        thread.stop()
        thread.join()
        let last = thread.runLoop.processorTime
        #expect(last >= .milliseconds(5))
        #expect(thread.runLoop.processorTime == last)
    }
}

/// The time that a loop is busy, as a value.
@Suite struct BusyTimeTests {
    @Test func `periods add up, and the one that goes on counts up to the moment of the reading`() {
        let time = BusyTime()
        func at(_ nanoseconds: Int64) -> Moment { Moment(nanoseconds: nanoseconds) }
        #expect(time.nanoseconds(at: at(50)) == 0)
        #expect(time.since == nil)
        time.begin(at: at(100))
        time.begin(at: at(130))
        #expect(time.since == at(100))
        #expect(time.nanoseconds(at: at(150)) == 50)
        time.end(at: at(200))
        time.end(at: at(250))
        #expect(time.nanoseconds(at: at(300)) == 100)
        #expect(time.since == nil)
        time.begin(at: at(1_000))
        #expect(time.nanoseconds(at: at(1_001)) == 101)
        // The reader has read its clock before the loop has.
        time.end(at: at(1_001))
        #expect(time.nanoseconds(at: at(0)) == 101)
    }
}
