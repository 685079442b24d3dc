import TestExpectations
import TestSupport
import Testing

@testable import RunLoops

/// The handlers that are called at the end of a thread.
@Suite struct EndHandlerTests {
    // Guarantees: End handlers are called on the thread, before its loop releases anything.
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

    // Guarantees: End handlers are called on the thread, before its loop releases anything.
    @Test func `an end handler finds the loop as it was, and what it posts does not run`() throws {
        let log = Log<String>()
        let thread = try RunLoopThread(name: "worker")
        try thread.runLoop.performAndWait {
            let loop = RunLoop.current
            // Used on this thread only, and therefore not sendable.
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

    // Guarantees: An end handler that was cancelled is not called, and is released at once.
    @Test func `an end handler that was taken back is not called, and is released at once`() throws {
        let log = Log<String>()
        try BareThread {
            let loop = RunLoop.current
            var handles = (0..<5).map { number in
                loop.addEndHandler { [canary = Canary { log.add("released \(number)") }] in
                    canary.sing()
                    log.add("called \(number)")
                }
            }
            for number in [3, 1, 3] { handles[number].cancel() }
            #expect(log.entries == ["released 3", "released 1"])
            // The loop holds the remaining handlers.
            handles = []
        }.join()
        #expect(
            log.entries.dropFirst(2) == [
                "called 4", "released 4", "called 2", "released 2", "called 0", "released 0",
            ])
    }

    @Test func `an end handler may take back another one, and itself`() throws {
        let log = Log<String>()
        try BareThread {
            let loop = RunLoop.current
            let first = loop.addEndHandler { log.add("first") }
            var handles = [first]
            handles.append(
                loop.addEndHandler {
                    log.add("second")
                    for handle in handles { handle.cancel() }
                    let late = loop.addEndHandler { log.add("late") }
                    late.cancel()
                })
        }.join()
        #expect(log.entries == ["second"])
    }

    @Test func `a loop keeps no more handles than twice the handlers that wait`() throws {
        try onLoopThread { loop in
            let ending = loop.core("EndHandlerTests", "").ending
            let kept = (0..<10).map { _ in loop.addEndHandler {} }
            for _ in 0..<1_000 {
                loop.addEndHandler {}.cancel()
                #expect(ending.count <= 21)
            }
            for handle in kept { handle.cancel() }
            #expect(ending.count <= 1)
        }
    }

    @Test func `a handle whose handler was called, or never taken, does nothing`() throws {
        try BareThread {
            let loop = RunLoop.current
            var handle: RunLoop.EndHandler?
            handle = loop.addEndHandler { handle?.cancel() }
            loop.perform { [canary = Canary { loop.addEndHandler {}.cancel() }] in canary.sing() }
        }.join()
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
