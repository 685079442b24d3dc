import Synchronization
import TestExpectations
import TestSupport
import Testing

@testable import RunLoops

/// Reports of handlers that do not return, where the blocked handler itself waits for the report.
@Suite struct WatchdogTests {
    /// The reports about one loop, with a gate for each phase.
    private final class Reports: Sendable {
        let log = Log<RunLoopWatchdog.Report>()
        let blocked = Gate()
        let stillBlocked = Gate()
        let ended = Gate()

        /// Starts a watchdog, and drops the reports about loops of other tests.
        ///
        /// - Parameters:
        ///   - loop: The loop.
        ///   - threshold: The time after which a handler is reported.
        ///   - line: The line of a handler that only prepares the test, and that other work can delay.
        ///   - needsTimer: True if handlers that run while no timer waits only prepare the test.
        /// - Returns: The watchdog.
        /// - Throws: An error if the watchdog's thread cannot be made.
        func watch(
            _ loop: RunLoop, _ threshold: Duration = .milliseconds(5), ignoring line: Int? = nil,
            needsTimer: Bool = false
        ) throws -> RunLoopWatchdog {
            try RunLoopWatchdog(threshold: threshold) { [loop] report in
                // Other work can delay the library's own block that starts the thread.
                guard report.loop == loop, !report.madeAt.hasPrefix("RunLoops/") else { return }
                if let line, report.madeAt.hasSuffix(":\(line)") { return }
                if needsTimer, report.timerDelay == nil, self.log.entries.isEmpty { return }
                self.log.add(report)
                switch report.phase {
                case .blocked: self.blocked.open()
                case .stillBlocked: self.stillBlocked.open()
                case .ended: self.ended.open()
                }
            }
        }
    }

    @Test func `a handler that does not return is reported, again if it goes on, and when it returns`() throws
    {
        let thread = try RunLoopThread(name: "blocked")
        defer { thread.stop() }
        let reports = Reports()
        let watchdog = try reports.watch(thread.runLoop)
        let line = #line + 1
        thread.runLoop.perform {
            #expect(reports.blocked.wait())
            #expect(reports.stillBlocked.wait())
        }
        #expect(reports.ended.wait())
        watchdog.stop()

        let seen = reports.log.entries
        #expect(seen.first?.phase == .blocked)
        #expect(seen.last?.phase == .ended)
        for report in seen {
            #expect(report.handler == .block)
            #expect(report.madeAt == "RunLoopsTests/WatchdogTests.swift:\(line)")
            #expect(report.duration >= .milliseconds(5))
            #expect(report.threadID == seen[0].threadID)
        }
        #expect(zip(seen, seen.dropFirst()).allSatisfy { $0.duration <= $1.duration })
        #expect(
            seen[0].description.hasPrefix(
                "run loop \"blocked\", thread \(seen[0].threadID): block made at RunLoopsTests/WatchdogTests.swift:\(line) has been running for "
            ))
    }

    @Test(arguments: [
        RunLoop.HandlerKind.block, .job, .timer, .manualSource, .descriptor, .port, .observer, .endHandler,
    ])
    func `handlers of every kind are watched`(kind: RunLoop.HandlerKind) throws {
        let reports = Reports()
        let wire = try Wire.pipe()
        defer { wire.close() }
        let thread = try RunLoopThread(name: "kind")
        let loop = thread.runLoop
        let handler = { @Sendable in #expect(reports.blocked.wait()) }
        let watchdog = try reports.watch(loop, ignoring: #line + 1)
        try loop.performAndWait {
            switch kind {
            case .block: loop.perform(handler)
            case .job: enqueueJob(on: loop, handler)
            case .timer:
                loop.add(Timer(timeInterval: .zero, repeats: false) { _ in handler() }, forMode: .default)
            case .manualSource:
                let source = ManualSource(handler: handler)
                loop.add(source, forMode: .default)
                source.signal()
            case .descriptor:
                wire.send()
                let source = DescriptorSource(wire.near, interest: .read) { source, _ in
                    handler()
                    source.invalidate()
                }
                try loop.add(source, forMode: .default)
            case .port:
                let port = Port<Int>()
                loop.add(port, forMode: .default) { _ in handler() }
                try port.send(1)
            case .observer:
                let observer = RunLoop.Observer(activities: .beforeTimers, repeats: false) { _, _ in handler()
                }
                loop.add(observer, forMode: .default)
                loop.wakeUp()
            case .endHandler: loop.addEndHandler(handler)
            case .mainQueue, .delivery, .deferredWork: Issue.record("not a loop's of a test")
            }
        }
        if kind == .endHandler { thread.stop() }
        #expect(reports.ended.wait())
        watchdog.stop()
        thread.stop()
        #expect(Set(reports.log.entries.map(\.handler)) == [kind])
        #expect(!reports.log.entries.contains { $0.madeAt.isEmpty })
    }

    @Test func `it says what waits`() throws {
        let thread = try RunLoopThread(name: "waited for")
        defer { thread.stop() }
        let loop = thread.runLoop
        let (reports, goOn) = (Reports(), Gate())
        let watchdog = try reports.watch(loop, needsTimer: true)
        // Both blocks run in one step: a pass always serves at least two messages.
        loop.perform(contentsOf: [
            { @Sendable in loop.add(Timer(timeInterval: .zero, repeats: false) { _ in }, forMode: .default) },
            { @Sendable in #expect(reports.stillBlocked.wait() && goOn.wait()) },
        ])
        #expect(reports.blocked.wait())
        for _ in 0..<3 { loop.perform {} }
        goOn.open()
        #expect(reports.ended.wait())
        watchdog.stop()
        let still = try #require(reports.log.entries.last { $0.phase == .stillBlocked })
        #expect(still.timerDelay ?? .zero > .milliseconds(5))
        #expect(reports.log.entries.last?.arrivals == 3)
        #expect(reports.log.entries.last?.timerDelay == nil)
        #expect(still.description.contains("; "))
        #expect(still.description.contains("a timer is late by "))
        #expect(reports.log.entries.last?.description.hasSuffix("; 3 arrived meanwhile") == true)
    }

    @Test func `a timer that is late since ever is only late`() throws {
        let thread = try RunLoopThread(name: "late since ever")
        defer { thread.stop() }
        let loop = thread.runLoop
        let reports = Reports()
        let watchdog = try reports.watch(loop, needsTimer: true)
        loop.perform(contentsOf: [
            { @Sendable in
                loop.add(
                    Timer(fireAt: .distantPast, interval: .zero, repeats: false) { _ in }, forMode: .default)
            },
            { @Sendable in #expect(reports.stillBlocked.wait()) },
        ])
        #expect(reports.ended.wait())
        watchdog.stop()
        let still = try #require(reports.log.entries.last { $0.phase == .stillBlocked })
        #expect(still.timerDelay ?? .zero > .seconds(1_000_000_000))
    }

    @Test func `who asked to be told of a port's end is named`() throws {
        let thread = try RunLoopThread(name: "told")
        defer { thread.stop() }
        let (reports, port) = (Reports(), Port<Int>())
        let line = #line + 1
        try thread.runLoop.performAndWait { port.addInvalidationHandler { #expect(reports.blocked.wait()) } }
        let watchdog = try reports.watch(thread.runLoop)
        port.invalidate()
        #expect(reports.ended.wait())
        watchdog.stop()
        #expect(reports.log.entries.first?.madeAt == "RunLoopsTests/WatchdogTests.swift:\(line)")
    }

    // Guarantees: A handler is not reported for the time in which it runs the loop, nor for time in which the whole process was
    // halted.
    @Test func `a handler that runs the loop is not written down while it does`() throws {
        let thread = try RunLoopThread(name: "nested")
        defer { thread.stop() }
        let loop = thread.runLoop
        let watchdog = try Reports().watch(loop, .seconds(100))
        let (inside, back) = (Gate(), Gate())
        let numbers = Log<HandlerRecord.Look?>()
        let look = { @Sendable in numbers.add(loop.handle.handlers.look()) }
        loop.perform {
            look()
            loop.perform {
                look()
                inside.open()
            }
            _ = loop.run(in: .default)
            look()
            back.open()
        }
        #expect(inside.wait())
        waitUntilAsleep(loop)
        // The loop sleeps in the run inside the block.
        look()
        loop.stop()
        #expect(back.wait())
        try loop.performAndWait {}
        watchdog.stop()
        let seen = numbers.entries
        #expect(seen.map { $0 != nil } == [true, true, false, true])
        // When the outer handler continues, the place is the same, but the call is another one, whose time starts at zero.
        #expect(seen[0]?.madeAt == seen[3]?.madeAt)
        #expect(seen[0]?.madeAt != seen[1]?.madeAt)
        #expect(seen[0]?.call != seen[3]?.call)
    }

    @Test func `a timer that is fired by hand inside a handler is part of it`() throws {
        try onLoopThread { loop in
            let watchdog = try Reports().watch(loop, .seconds(100))
            let look = { @Sendable in loop.handle.handlers.look() }
            var seen: [HandlerRecord.Look?] = []
            let inner = Timer(timeInterval: .seconds(60), repeats: true) { _ in seen.append(look()) }
            loop.add(inner, forMode: .default)
            let outer = RunLoop.Observer(activities: .beforeTimers) { _, _ in
                inner.fire()
                seen.append(look())
            }
            loop.add(outer, forMode: .default)
            loop.pass()
            #expect(seen.count == 2)
            #expect(seen[0] == seen[1])
            #expect(seen[0]?.call.kind == .observer)
            #expect(look() == nil)
            watchdog.stop()
        }
    }

    @Test func `loops that are made later are watched too`() throws {
        let started = Gate()
        let found = Log<String>()
        let watchdog = try RunLoopWatchdog(threshold: .milliseconds(5)) { report in
            // Other tests can delay the library's own block that starts the thread.
            guard report.loop.name == "made later",
                report.madeAt.hasPrefix("RunLoopsTests/WatchdogTests.swift:")
            else { return }
            found.add(report.madeAt)
            started.open()
        }
        let thread = try RunLoopThread(name: "made later")
        try thread.runLoop.performAndWait { #expect(started.wait()) }
        thread.stop()
        watchdog.stop()
        #expect(!found.entries.isEmpty)
    }

    @Test(.disabled(if: ForcedRecording.isOn))
    func `nothing is written down unless somebody watches`() async {
        // In a process of its own, because other tests have watchdogs, too.
        await #expect(processExitsWith: .success) { try watchAndStop() }
    }

    @Test func `what is given after the watchdog began is watched, also in a pass that was under way`() throws
    {
        let thread = try RunLoopThread(name: "under way")
        defer { thread.stop() }
        let loop = thread.runLoop
        let (entered, goOn, isNoted) = (Gate(), Gate(), Log<Bool>())
        // Not in a block, because the time that it waits would count for all blocks of its pass.
        try loop.performAndWait {
            let timer = Timer(timeInterval: .zero, repeats: false) { _ in
                entered.open()
                #expect(goOn.wait())
            }
            loop.add(timer, forMode: .default)
        }
        #expect(entered.wait())
        let watchdog = try Reports().watch(loop, .seconds(100))
        loop.perform { isNoted.add(loop.handle.handlers.look() != nil) }
        goOn.open()
        try loop.performAndWait {}
        #expect(isNoted.entries == [true])
        watchdog.stop()
    }

    @Test func `handlers can be timed and watched at once`() throws {
        try onLoopThread { loop in
            let watchdog = try Reports().watch(loop, .seconds(100))
            loop.measuresHandlers = true
            let looked = Log<Bool>()
            loop.perform { looked.add(loop.handle.handlers.look() != nil) }
            loop.pass()
            #expect(looked.entries == [true])
            #expect(loop.statistics.longestHandler != nil)
            watchdog.stop()
            loop.measuresHandlers = false
        }
    }

    @Test func `no report comes after a stop on the watchdog's own thread`() throws {
        let thread = try RunLoopThread(name: "stopped")
        defer { thread.stop() }
        let (reports, reported) = (Log<RunLoopWatchdog.Report.Phase>(), Gate())
        let loop = thread.runLoop
        let stop = Guarded<(@Sendable () -> Void)?>(nil)
        let watchdog = try RunLoopWatchdog(threshold: .milliseconds(2)) { report in
            guard report.loop == loop, !report.madeAt.hasPrefix("RunLoops/") else { return }
            reports.add(report.phase)
            stop.withLock { $0 }?()
            reported.open()
        }
        stop.withLock { $0 = { watchdog.stop() } }
        try loop.performAndWait { #expect(reported.wait()) }
        stop.withLock { $0 = nil }
        #expect(reports.entries == [.blocked])
    }

    @Test(arguments: [0, -1]) func `a threshold that is over at once is refused`(seconds: Int) async {
        let result = await #expect(
            processExitsWith: .failure, observing: [\.standardErrorContent]
        ) { [seconds] in
            _ = try RunLoopWatchdog(threshold: .seconds(seconds)) { _ in }
        }
        #expect(result?.message.contains("RunLoopWatchdog: a threshold of ") == true)
        #expect(result?.message.contains("use more than zero") == true)
    }
}

/// Checks the record of a loop's handlers without watchdogs, with two, and without them again.
private func watchAndStop() throws {
    let thread = try RunLoopThread(name: "unwatched")
    let loop = thread.runLoop
    let isWanted = { loop.handle.handlers.isWanted }
    let writesDown = { try loop.performAndWait { loop.handle.handlers.look() != nil } }
    #expect(!isWanted())
    #expect(try !writesDown())
    do {
        let first = try RunLoopWatchdog { _ in }
        let second = try RunLoopWatchdog { _ in }
        #expect(try writesDown())
        first.stop()
        first.stop()
        #expect(try writesDown())
        withExtendedLifetime(second) {}
    }
    // The second watchdog was released.
    #expect(!isWanted())
    #expect(try !writesDown())
    #expect(loop.handle.handlers.look() == nil)
}
