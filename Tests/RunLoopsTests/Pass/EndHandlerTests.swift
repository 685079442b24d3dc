import TestExpectations
import TestSupport
import Testing

@testable import RunLoops

/// The handlers that a thread calls at its end.
@Suite struct EndHandlerTests {
    @Test func `end handlers are called on the thread, the last one first, before anybody has joined`() throws
    {
        let log = Log<String>()
        let thread = try RunLoopThread(name: "worker")
        try thread.runLoop.performAndWait {
            for number in 1...3 {
                RunLoop.current.addEndHandler {
                    log.add("\(number)")
                    #expect(thread.runLoop.isCurrent)
                    #expect(RunLoop.current.currentMode == nil)
                }
            }
        }
        #expect(log.entries == [])
        thread.stop()
        #expect(thread.join())
        #expect(log.entries == ["3", "2", "1"])
    }

    @Test func `an end handler finds the loop as it was, and what it posts does not run`() throws {
        let log = Log<String>()
        let thread = try RunLoopThread(name: "worker")
        try thread.runLoop.performAndWait {
            let loop = RunLoop.current
            // ExclusivityUnchecked to the thread, and not sendable: it need not be.
            var state = ["opened"]
            let timer = Timer(timeInterval: .seconds(3_600), repeats: true) { _ in state.append("fired") }
            loop.add(timer, forMode: .default)
            loop.addEndHandler {
                #expect(timer.isValid)
                state.append("closed")
                log.add(state.joined(separator: " "))
                let isTaken = loop.perform { [canary = Canary { log.add("destroyed") }] in
                    canary.sing()
                    log.add("ran")
                }
                #expect(isTaken)
                loop.addEndHandler { log.add("added late") }
            }
        }
        thread.stop()
        #expect(thread.join())
        #expect(log.entries == ["opened closed", "added late", "destroyed"])
    }

    @Test func `an end handler may wait for others, and others may not wait for it`() throws {
        let other = try RunLoopThread(name: "other")
        try onLoopThread { loop in
            let circle = Log<WaitCircle?>()
            let answer = Log<Int>()
            let thread = try RunLoopThread(name: "worker")
            try thread.runLoop.performAndWait {
                RunLoop.current.addEndHandler {
                    do { answer.add(try other.runLoop.performAndWait { 7 }) } catch { Issue.record(error) }
                    circle.add(refusal { try loop.performAndWait {} })
                }
            }
            thread.stop()
            #expect(thread.join())
            #expect(answer.entries == [7])
            #expect(circle.entries.first??.waits.count == 2)
        }
        other.stop()
    }

    @Test func `any thread with a loop calls its end handlers, and lets go of them`() throws {
        let log = Log<String>()
        try BareThread {
            RunLoop.current.addEndHandler { [canary = Canary { log.add("gone") }] in
                canary.sing()
                log.add("bare")
            }
        }.join()
        #expect(log.entries == ["bare", "gone"])
        let ended = Gate()
        try RunLoopThread.detach(name: "detached") { loop in loop.addEndHandler { ended.open() } }
        #expect(ended.wait())
    }

    @Test func `on a loop that has ended an end handler is let go of at once`() throws {
        let log = Log<String>()
        try BareThread {
            let loop = RunLoop.current
            loop.perform { [canary = Canary { loop.addEndHandler { log.add("called") } }] in canary.sing() }
        }.join()
        #expect(log.entries == [])
    }

    @Test func `an end handler is added on the loop's own thread`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let thread = try RunLoopThread(name: "worker")
            thread.runLoop.addEndHandler {}
        }
        #expect(
            result?.message.contains("RunLoop.addEndHandler: called outside the loop's own thread") == true)
    }
}
