import Synchronization
import TestExpectations
import TestSupport
import Testing

@testable import RunLoops

/// The events of loops that a recorder keeps, with their places.
@Suite(.disabled(if: ForcedRecording.isOn)) struct FlightRecorderTests {
    @Test func `each kind of handler is recorded with its place`() throws {
        try RecordedRun.run { recorder in
            let lines = try onLoopThread { loop -> [RunLoop.HandlerKind: Int] in
                var lines: [RunLoop.HandlerKind: Int] = [:]
                let source = ManualSource {}
                lines[.manualSource] = #line - 1
                loop.add(source, forMode: .default)
                source.signal()
                loop.add(Timer(timeInterval: .zero, repeats: false) { _ in }, forMode: .default)
                lines[.timer] = #line - 1
                loop.perform {}
                lines[.block] = #line - 1
                let port = Port<Int>()
                lines[.port] = #line - 1
                loop.add(port, forMode: .default) { _ in }
                try port.send(7)
                loop.add(RunLoop.Observer(activities: .exit) { _, _ in }, forMode: .default)
                lines[.observer] = #line - 1
                let pipe = ReadablePipe()
                pipe.fill()
                let descriptor = DescriptorSource(pipe.readingEnd, interest: .read) { _, _ in }
                lines[.descriptor] = #line - 1
                try loop.add(descriptor, forMode: .default)
                // The pipe remains readable.
                for _ in 0..<3 { loop.pass() }
                return lines
            }
            let snapshot = recorder.snapshot()
            for (kind, line) in lines {
                let calls = snapshot.handlers(kind, line)
                #expect(!calls.isEmpty, "\(kind)")
                for call in calls {
                    #expect(call.place.hasPrefix("RunLoopsTests/FlightRecorderTests.swift:"))
                }
            }
        }
    }

    @Test func `a message is recorded from its sender to its handler, with the time that it waited`() throws {
        try RecordedRun.run { recorder in
            let line = #line + 1
            let port = Port<Int>()
            try onLoopThread { loop in
                loop.add(port, forMode: .default) { _ in loop.stop() }
                let sender = try RunLoopThread(name: "the sender")
                sender.runLoop.perform { try? port.send(1) }
                loop.run(until: .hang)
                sender.stop()
                sender.join()
            }
            let snapshot = recorder.snapshot()
            let post = try #require(
                snapshot.thread("the sender").events.first {
                    $0.kind == .post(count: 1) && $0.place.hasSuffix(":\(line)")
                })
            let call = try #require(snapshot.handlers(.port, line).first)
            #expect(post.flow != nil && post.flow == call.flow)
            let wait = try #require(call.wait)
            #expect(wait >= .zero)
            // One unit of a stamp is 64 ticks.
            let difference = (call.start - post.start) - wait
            #expect(abs(difference / .nanoseconds(1)) < 2_000)
            #expect(call.waitingMessages == 1)
        }
    }

    @Test func `messages sent together are one post, and the first handled ends its flow`() throws {
        try RecordedRun.run { recorder in
            let line = #line + 2
            try onLoopThread { loop in
                let port = Port<Int>()
                try port.send(contentsOf: Array(0..<10))
                loop.add(port, forMode: .default) { _ in }
                loop.settle()
            }
            let snapshot = recorder.snapshot()
            let posts = snapshot.events.filter { $0.place.hasSuffix(":\(line)") && $0.isPost }
            #expect(posts.count == 1)
            let calls = snapshot.handlers(.port, line)
            #expect(calls.count == 10)
            #expect(calls.filter { $0.flow != nil }.map(\.flow) == posts.map(\.flow))
        }
    }

    @Test func `runs are recorded with their modes, results and depths`() throws {
        try RecordedRun.run { recorder in
            try onLoopThread { loop in
                let inner = RunLoop.Mode("inner")
                loop.add(Port<Int>(), forMode: inner) { _ in }
                loop.add(Port<Int>(), forMode: .default) { _ in }
                loop.perform {
                    loop.run(in: inner, until: .now + .milliseconds(1))
                    loop.stop()
                }
                loop.run(until: .hang)
            }
            let events = try recorder.snapshot().thread("test").events
            let runs = events.filter { $0.isRun }
            #expect(
                runs.map(\.place) == ["inner", "kCFRunLoopDefaultMode"]
                    || runs.map(\.place) == ["inner", RunLoop.Mode.default.rawValue])
            #expect(runs.map(\.kind) == [.run(.timedOut), .run(.stopped)])
            #expect(runs.map(\.depth) == [2, 0])
            let block = try #require(events.first { $0.kind == .handler(.block) })
            #expect(block.depth == 1)
            let sleep = try #require(events.first { $0.isSleep })
            #expect(sleep.depth == 3)
            // Each run encloses the runs and handlers below it.
            #expect(runs[0].start >= block.start && runs[1].start <= block.start)
        }
    }

    @Test func `a sleep is recorded with its cause`() throws {
        try RecordedRun.run { recorder in
            try onLoopThread { loop in
                loop.waitPolicy = .park
                loop.add(
                    Timer(timeInterval: .milliseconds(3), repeats: false) { _ in loop.stop() },
                    forMode: .default)
                loop.run(until: .hang)
                let port = Port<Int>()
                loop.add(port, forMode: .default) { _ in loop.stop() }
                let sender = try RunLoopThread(name: "sender")
                sender.runLoop.perform {
                    let timer = Timer(timeInterval: .milliseconds(3), repeats: false) { _ in try? port.send(1)
                    }
                    RunLoop.current.add(timer, forMode: .default)
                }
                loop.run(until: .hang)
                sender.stop()
                loop.add(Port<Int>(), forMode: RunLoop.Mode("idle")) { _ in }
                let pipe = ReadablePipe()
                pipe.fill()
                try loop.add(
                    DescriptorSource(pipe.readingEnd, interest: .read) { _, _ in loop.stop() },
                    forMode: .default)
                loop.run(until: .hang)
                loop.run(in: RunLoop.Mode("idle"), until: .now + .milliseconds(3))
            }
            let sleeps = try recorder.snapshot().thread("test").events.compactMap {
                event -> FlightRecorder.Event.WakeReasons? in
                if case .sleep(let reasons) = event.kind { reasons } else { nil }
            }
            for cause in [.timer, .messages, .descriptor, []] as [FlightRecorder.Event.WakeReasons] {
                #expect(sleeps.contains(cause), "\(cause)")
            }
        }
    }

    @Test func `what a thread does now is under way, and since when`() throws {
        try RecordedRun.run { recorder in
            let started = Gate()
            let mayEnd = Gate()
            let thread = try RunLoopThread(name: "stuck")
            let line = #line + 1
            thread.runLoop.perform {
                started.open()
                _ = mayEnd.wait()
            }
            #expect(started.wait())
            let snapshot = recorder.snapshot()
            let now = try snapshot.thread("stuck").eventsUnderWay
            mayEnd.open()
            thread.stop()
            thread.join()
            #expect(now.last?.kind == .handler(.block))
            #expect(now.last?.place.hasSuffix("FlightRecorderTests.swift:\(line)") == true)
            #expect(now.last?.duration == nil)
            if let last = now.last { #expect(last.start <= snapshot.end && last.start >= snapshot.start) }
            #expect(now.first?.kind == .run(nil))
            let after = try recorder.snapshot().thread("stuck")
            #expect(after.hasEnded && after.eventsUnderWay.isEmpty)
            // Each snapshot calibrates the clocks again, so that the dates of an event differ by some nanoseconds.
            #expect(after.events.count { $0.kind == .handler(.block) && $0.place == now.last?.place } == 1)
        }
    }

    @Test func `a full port, and the wait for its room, are recorded`() throws {
        try RecordedRun.run { recorder in
            let port = Port<Int>(queueLimit: 1)
            let line = #line - 1
            try port.send(1)
            #expect(throws: PortSendError<Int>.self) {
                try port.send(2, before: ContinuousClock.now + .milliseconds(5))
            }
            let events = recorder.snapshot().events.filter {
                $0.place.hasSuffix("FlightRecorderTests.swift:\(line)")
            }
            #expect(events.contains { $0.kind == .fullPort })
            let wait = try #require(events.first { $0.kind == .wait(isRefused: false) })
            #expect(try #require(wait.duration) >= .milliseconds(4))
        }
    }

    @Test
    func
        `a late timer is recorded with its lateness, and one from the beginning of time with the most there is`()
        throws
    {
        try RecordedRun.run { recorder in
            let lines = try onLoopThread { loop in
                let first = #line + 2
                let called = Timer(fireAt: .now + .seconds(9), interval: .zero, repeats: false) { _ in }
                let late = Timer(fireAt: .now - .seconds(2), interval: .zero, repeats: false) { _ in
                    called.fire()
                }
                let ancient = Timer(fireAt: .distantPast, interval: .zero, repeats: false) { _ in }
                loop.add(called, forMode: .default)
                loop.add(late, forMode: .default)
                loop.add(ancient, forMode: .default)
                loop.pass()
                return first
            }
            let snapshot = recorder.snapshot()
            #expect(try #require(snapshot.handlers(.timer, lines - 1).first).lateness == nil)
            let late = try #require(snapshot.handlers(.timer, lines).first?.lateness)
            #expect(late >= .milliseconds(1_999))
            #expect(try #require(snapshot.handlers(.timer, lines + 3).first?.lateness) > late)
        }
    }

    @Test func `marks and intervals are recorded on their thread`() throws {
        try RecordedRun.run { recorder in
            let result = recorder.interval("outer") {
                recorder.mark("a mark")
                return recorder.interval("inner") { 3 }
            }
            #expect(result == 3)
            struct Failed: Error {}
            #expect(throws: Failed.self) { try recorder.interval("failed") { throw Failed() } }
            let events = recorder.snapshot().events.filter { $0.kind == .mark || $0.kind == .interval }
            #expect(events.map(\.place) == ["a mark", "inner", "outer", "failed"])
            #expect(events.map(\.depth) == [1, 1, 0, 0])
            #expect(events[0].duration == .zero)
        }
    }
}
