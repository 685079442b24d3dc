import Glibc
import RunLoops
import TestSupport
import Testing

@testable import Inspection

/// Reports of this process.
@Suite struct ProcessReportTests {
    @Test func `a loop tells its mode, its runs and its inputs`() throws {
        let thread = try RunLoopThread(name: "told")
        defer { thread.stop() }
        let port = Port<Int>(queueLimit: 8)
        let line = #line - 1
        let added = Gate()
        thread.runLoop.perform {
            RunLoop.current.add(port, forMode: RunLoop.Mode("other")) { _ in }
            let timer = Timer(timeInterval: .seconds(3600), repeats: true) { _ in }
            RunLoop.current.add(timer, forMode: .common)
            RunLoop.current.add(RunLoop.Observer(activities: .exit) { _, _ in }, forMode: .default)
            added.open()
        }
        #expect(added.wait())
        for number in 0..<5 { try port.send(number) }

        let report = ProcessReport(timeout: .seconds(60))
        let loop = try #require(report.loops.first { $0.name == "told" })
        let details = try #require(loop.details)
        #expect(details.mode == "default")
        #expect(details.depth == 1)
        #expect(details.commonModes.contains("default"))
        let seen = try #require(details.inputs.first { $0.kind == "port" })
        #expect(seen.count == 5)
        #expect(seen.limit == 8)
        #expect(seen.waitingSenders == 0)
        #expect(seen.modes == ["other"])
        #expect(seen.madeAt == "InspectionTests/ProcessReportTests.swift:\(line)")
        let timer = try #require(details.inputs.first { $0.kind == "timer" })
        let due = try #require(timer.dueIn)
        #expect(due > 3_000_000_000_000 && due <= 3_600_000_000_000)
        #expect(timer.interval == 3_600_000_000_000)
        #expect(details.inputs.contains { $0.kind == "observer" })
        #expect(loop.threadID == thread.runLoop.threadID)
        #expect(!loop.isBlocked)
    }

    // Guarantees: However often a blocked loop is asked, only one question waits in it.
    @Test
    func `a loop that is blocked is named with its handler, and gets one question however often it is asked`()
        throws
    {
        RunLoop.beginLooking()
        defer { RunLoop.endLooking() }
        let thread = try RunLoopThread(name: "blocked")
        defer { thread.stop() }
        let began = Gate()
        let goOn = Gate()
        let line = #line + 1
        thread.runLoop.perform {
            began.open()
            _ = goOn.wait()
        }
        #expect(began.wait())
        var report = ProcessReport(timeout: .milliseconds(20))
        let pending = report.loops.first { $0.name == "blocked" }?.pendingCount
        for _ in 0..<20 { report = ProcessReport(timeout: .milliseconds(1)) }
        let loop = try #require(report.loops.first { $0.name == "blocked" })
        #expect(loop.isBlocked)
        #expect(loop.details == nil)
        #expect(loop.call?.kind == "block")
        #expect(loop.call?.madeAt == "InspectionTests/ProcessReportTests.swift:\(line)")
        #expect(loop.busyFor ?? .zero > .zero)
        #expect(loop.pendingCount == pending)
        let text = report.text()
        #expect(text.contains("BLOCKED"))
        goOn.open()
        let served = Gate()
        thread.runLoop.perform { served.open() }
        #expect(served.wait())
        let later = try #require(ProcessReport(timeout: .seconds(60)).loops.first { $0.name == "blocked" })
        #expect(!later.isBlocked)
        #expect(later.details != nil)
    }

    @Test func `a loop that ends before it answers is not waited for`() throws {
        let thread = try RunLoopThread(name: "ending")
        let (began, mayEnd, isAnswered) = (Gate(), Gate(), Gate())
        thread.runLoop.perform {
            began.open()
            _ = mayEnd.wait()
        }
        #expect(began.wait())
        thread.stop()
        let loop = thread.runLoop
        let asking = try BareThread {
            let answers = LoopAnswers([loop], before: .now + .seconds(900))
            if answers[0] == nil { isAnswered.open() }
        }
        // The question waits behind the handler.
        while loop.pendingCount == 0 { sched_yield() }
        mayEnd.open()
        try #require(isAnswered.wait())
        thread.join()
        // A loop that has ended is not waited for either.
        #expect(LoopAnswers([loop], before: .now + .seconds(900))[0] == nil)
        asking.join()
    }

    @Test func `waits are told, and those in a circle`() throws {
        let left = try RunLoopThread(name: "left of two")
        let right = try RunLoopThread(name: "right of two")
        defer {
            left.stop()
            right.stop()
        }
        let leftBegan = Gate()
        let rightBegan = Gate()
        // Both waits have a deadline, so neither fails because of the circle.
        let deadline = ContinuousClock.now + .seconds(30)
        left.runLoop.perform {
            leftBegan.open()
            _ = rightBegan.wait()
            right.join(before: deadline)
        }
        right.runLoop.perform {
            rightBegan.open()
            _ = leftBegan.wait()
            left.join(before: deadline)
        }
        var waits: [ProcessReport.Wait] = []
        // A wait is in the report from the moment at which its thread is about to block.
        while waits.count < 2 && ContinuousClock.now < deadline {
            waits = ProcessReport(timeout: .zero).waits.filter { $0.loop?.hasSuffix("of two") == true }
        }
        #expect(Set(waits.compactMap(\.loop)) == ["left of two", "right of two"])
        for wait in waits {
            #expect(wait.operation == "RunLoopThread.join")
            #expect(wait.madeAt.hasPrefix("InspectionTests/ProcessReportTests.swift:"))
            #expect(wait.waitsFor == [wait.loop == "left of two" ? "right of two" : "left of two"])
            #expect(wait.hasDeadline)
            #expect(wait.isInCircle)
        }
    }

    @Test func `a sender that waits for room is counted at the port, and named among the waits`() throws {
        let receiver = try RunLoopThread(name: "receiver of one")
        let sender = try RunLoopThread(name: "sender of two")
        let port = Port<Int>(queueLimit: 1)
        let place = "InspectionTests/ProcessReportTests.swift:\(#line - 1)"
        defer {
            port.invalidate()
            receiver.stop()
            sender.stop()
        }
        try receiver.runLoop.performAndWait {
            RunLoop.current.add(port, forMode: RunLoop.Mode("never")) { _ in }
        }
        sender.runLoop.perform { for number in 0..<2 { try? port.send(number) } }
        var report: ProcessReport
        var wait: ProcessReport.Wait?
        var input: ProcessReport.Input?
        let end = ContinuousClock.Instant.hang
        repeat {
            // The sender's loop never answers.
            report = ProcessReport(timeout: .milliseconds(200))
            wait = report.waits.first { $0.loop == "sender of two" }
            let inputs = report.loops.first { $0.name == "receiver of one" }?.details?.inputs
            input = inputs?.first { $0.kind == "port" && $0.waitingSenders != 0 }
        } while (wait == nil || input == nil) && ContinuousClock.now < end
        let found = try #require(wait)
        #expect(found.operation == "Port.send" && found.madeAt == place)
        #expect(found.waitsFor == ["receiver of one"])
        #expect(!found.hasDeadline && !found.isInCircle)
        let seen = try #require(input)
        #expect(seen.madeAt == place && seen.count == 1 && seen.limit == 1 && seen.waitingSenders == 1)
        #expect(report.text().contains("sender of two waits for receiver of one in Port.send at \(place)"))
    }

    @Test func `the JSON form holds the whole report`() throws {
        let report = ProcessReport(timeout: .milliseconds(50))
        #expect(try ProcessReport(json: report.json).json == report.json)
        #expect(throws: DecodingError.self) { try ProcessReport(json: "{\"processID\":1}") }
        #expect(throws: DecodingError.self) { try ProcessReport(json: [0xff, 0x00]) }
    }

    @Test(.disabled(if: ForcedRecording.isOn))
    func `places are summed up from a recording, the longest call first`() throws {
        let recorder = try FlightRecorder(detail: .everything)
        defer { recorder.stop() }
        let thread = try RunLoopThread(name: "summed")
        defer { thread.stop() }
        let served = Gate()
        let line = #line + 1
        for _ in 0..<3 { thread.runLoop.perform {} }
        let slowLine = #line + 1
        thread.runLoop.perform {
            let end = ContinuousClock.now + .milliseconds(5)
            while ContinuousClock.now < end {}
        }
        thread.runLoop.perform { served.open() }
        #expect(served.wait())
        let recent = ProcessReport.Recent(recorder.snapshot())
        let quick = try #require(recent.handlers.first { $0.madeAt.hasSuffix("ReportTests.swift:\(line)") })
        #expect(quick.count == 3)
        #expect(quick.total >= quick.longest)
        let slow = try #require(
            recent.handlers.first { $0.madeAt.hasSuffix("ReportTests.swift:\(slowLine)") })
        #expect(slow.longest >= 5_000_000)
        #expect(recent.lengths.longest >= 5_000_000)
        #expect(recent.lengths.count >= 4)
        #expect(recent.handlers.map(\.longest) == recent.handlers.map(\.longest).sorted(by: >))
    }
}
