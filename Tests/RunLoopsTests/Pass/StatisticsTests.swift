import Synchronization
import TestSupport
import Testing

@testable import RunLoops

/// The counts of a loop.
@Suite struct StatisticsTests {
    @Test func `a loop that has not run has counted nothing`() throws {
        try onLoopThread { loop in #expect(loop.statistics == RunLoop.Statistics()) }
    }

    @Test func `each pass is counted, nested ones too`() throws {
        try onLoopThread { loop in
            for count in 1...3 {
                loop.perform {}
                loop.run(until: .now)
                #expect(loop.statistics.passes == count)
            }
            loop.perform {
                loop.perform {}
                loop.run(until: .now)
            }
            loop.run(until: .now)
            #expect(loop.statistics.passes == 5)
        }
    }

    // Guarantees: A pass of a busy loop that watches no descriptor makes no system call; only the main loop checks the main
    // dispatch queue now and then.
    @Test func `a busy loop without descriptors makes no system call`() throws {
        try onLoopThread { loop in
            let again = Again(10_000)
            loop.perform { again.perform(on: loop) }
            #expect(loop.run(in: .default, until: nil) == .finished)
            let counted = loop.statistics
            #expect(counted.messages == 10_001)
            #expect(counted.passes > 4_000)
            #expect(counted.kernelCalls == 0)
            #expect(counted.kernelWrites == 0)
            #expect(counted.wakeUps == 0)
        }
    }

    @Test func `a busy loop with a descriptor makes one system call in each pass`() throws {
        try onLoopThread { loop in
            let wire = try Wire.pipe()
            defer { wire.close() }
            let source = DescriptorSource(wire.near, interest: .read) { _, _ in }
            try loop.add(source, forMode: .default)
            let again = Again(1_000)
            loop.perform { again.perform(on: loop) }
            while !again.isOver { loop.run(until: .now) }
            let counted = loop.statistics
            #expect(counted.kernelCalls == counted.passes)
            // A ready descriptor does not change this: it is reported once, and not again until it is read.
            wire.send()
            for _ in 0..<10 { loop.run(until: .now) }
            #expect(loop.statistics.kernelCalls == counted.kernelCalls + 10)
            #expect(loop.statistics.passes == counted.passes + 10)
        }
    }

    @Test func `a burst to a sleeping loop is one write and one wake-up`() throws {
        let thread = try RunLoopThread(name: "sleeper")
        defer { thread.stop() }
        let loop = thread.runLoop
        loop.perform { loop.waitPolicy = .park }
        for _ in 0..<20 {
            try loop.performAndWait {}
            waitUntilAsleep(loop)
            let before = loop.statistics
            // The first block keeps the loop busy, so that the burst is not divided.
            let (entered, release) = (Gate(), Gate())
            loop.perform {
                entered.open()
                #expect(release.wait())
            }
            #expect(entered.wait())
            for _ in 0..<100 { loop.perform {} }
            release.open()
            waitUntilAsleep(loop)
            #expect(loop.statistics.kernelWrites == before.kernelWrites + 1)
            #expect(loop.statistics.wakeUps == before.wakeUps + 1)
            #expect(loop.statistics.messages == before.messages + 101)
        }
    }

    @Test func `blocks, and what ports deliver, are messages`() throws {
        try onLoopThread { loop in
            let (port, signals) = (Port<Int>(), Port<Void>())
            var received = 0
            loop.add(port, forMode: .default) { _ in received += 1 }
            loop.add(signals, forMode: .default) { received += 1 }
            for number in 0..<5 { try port.send(number) }
            try signals.send()
            try signals.send()
            loop.perform(inModes: [.init("never run")]) {}
            loop.perform {}
            while received < 6 { loop.run(until: .now) }
            // Five messages, one signal that stands for two, and one block.
            #expect(loop.statistics.messages == 7)
        }
    }

    @Test func `timers that fire are counted, and those that are fired by hand are not`() throws {
        try onLoopThread { loop in
            for _ in 0..<3 {
                loop.add(Timer(timeInterval: .zero, repeats: false) { _ in }, forMode: .default)
            }
            let later = Timer(timeInterval: .seconds(60), repeats: true) { _ in }
            loop.add(later, forMode: .default)
            later.fire()
            loop.run(until: .now)
            #expect(loop.statistics.timerFires == 3)
        }
    }

    @Test func `a sleep until a timer is one wake-up and two system calls`() throws {
        // A delayed thread finds its timer due, and does not sleep.
        let sleeps = try isSeenOnce {
            try onLoopThread { loop in
                loop.waitPolicy = .park
                loop.add(Timer(timeInterval: .milliseconds(50), repeats: false) { _ in }, forMode: .default)
                #expect(loop.run(in: .default, until: .hang) == .finished)
                let statistics = loop.statistics
                // One call sets the alarm, and one waits.
                #expect(statistics.kernelCalls == 2 * statistics.wakeUps)
                return statistics.wakeUps == 1
            }
        }
        #expect(sleeps)
    }

    @Test func `handlers are timed only if that is asked for`() throws {
        try onLoopThread { loop in
            let slow = { @Sendable in
                let end = ContinuousClock.now + .milliseconds(2)
                while ContinuousClock.now < end {}
            }
            loop.perform(slow)
            loop.run(until: .now)
            #expect(!loop.measuresHandlers)
            #expect(loop.statistics.longestHandler == nil)

            loop.measuresHandlers = true
            #expect(loop.measuresHandlers)
            #expect(loop.statistics.longestHandler == nil)
            loop.perform(slow)
            loop.perform {}
            loop.run(until: .now)
            #expect(loop.statistics.longestHandler?.duration ?? .zero >= .milliseconds(2))

            // Setting the property again starts a new measurement.
            loop.measuresHandlers = true
            #expect(loop.statistics.longestHandler == nil)
            loop.perform(slow)
            loop.run(until: .now)
            loop.measuresHandlers = false
            #expect(loop.statistics.longestHandler == nil)
        }
    }

    @Test(arguments: TimedHandler.allCases) func `handlers of every kind are timed`(kind: TimedHandler) throws
    {
        try onLoopThread { loop in
            let wire = try Wire.pipe()
            defer { wire.close() }
            loop.measuresHandlers = true
            let slow = {
                let end = ContinuousClock.now + .milliseconds(1)
                while ContinuousClock.now < end {}
            }
            switch kind {
            case .timer:
                loop.add(Timer(timeInterval: .zero, repeats: false) { _ in slow() }, forMode: .default)
            case .observer:
                loop.add(RunLoop.Observer(activities: .beforeTimers) { _, _ in slow() }, forMode: .default)
                loop.perform {}
            case .manual:
                let source = ManualSource(handler: slow)
                loop.add(source, forMode: .default)
                source.signal()
            case .port:
                let port = Port<Int>()
                loop.add(port, forMode: .default) { _ in slow() }
                try port.send(1)
            case .descriptor:
                wire.send()
                let source = DescriptorSource(wire.near, interest: .read) { _, _ in slow() }
                try loop.add(source, forMode: .default)
            }
            loop.run(until: .now)
            #expect(loop.statistics.longestHandler?.duration ?? .zero >= .milliseconds(1))
            // The place is that of the slow handler.
            let madeAt = loop.statistics.longestHandler?.madeAt ?? ""
            #expect(madeAt.hasPrefix("RunLoopsTests/StatisticsTests.swift:"))
        }
    }

    @Test func `any thread may read the counts while the loop goes on`() throws {
        let thread = try RunLoopThread(name: "counted")
        defer { thread.stop() }
        var last = thread.runLoop.statistics
        for _ in 0..<1_000 {
            thread.runLoop.perform {}
            let next = thread.runLoop.statistics
            #expect(next.passes >= last.passes)
            #expect(next.messages >= last.messages)
            last = next
        }
        try thread.runLoop.performAndWait {}
        waitUntilAsleep(thread.runLoop)
        // 1,000 blocks, the block of the wait, and the one with which the thread reports its start.
        #expect(thread.runLoop.statistics.messages == 1_002)
    }
}

/// The kinds of handlers, other than blocks, that are timed.
enum TimedHandler: CaseIterable {
    case timer, observer, manual, port, descriptor
}

/// A block that performs itself repeatedly.
private final class Again: Sendable {
    private let left: Atomic<Int>

    init(_ count: Int) { left = Atomic(count) }

    var isOver: Bool { left.load(ordering: .relaxed) == 0 }

    func perform(on loop: RunLoop) {
        if isOver { return }
        left.subtract(1, ordering: .relaxed)
        loop.perform { self.perform(on: loop) }
    }
}
