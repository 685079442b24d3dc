import TestExpectations
import TestSupport
import Testing

@testable import RunLoops

/// A join waits for the end of a thread, even if that thread waits for the joining thread.
@Suite struct JoinTests {
    @Test func `a thread that waits for the one that joins it is refused, and can end`() throws {
        try onLoopThread { loop in
            let worker = try RunLoopThread(name: "worker")
            let circle = Log<WaitCircle?>()
            worker.runLoop.perform { circle.add(refusal { try loop.performAndWait {} }) }
            waitUntil("the worker waits") { loop.handle.mailbox.current.node != nil }
            worker.stop()
            #expect(worker.join())
            let waits = circle.entries.first??.waits
            // The list begins with the refused wait.
            #expect(waits?.map(\.operation) == ["RunLoop.performAndWait", "RunLoopThread.join"])
            #expect(waits?.map(\.loop) == [worker.runLoop, loop])
        }
    }

    @Test func `a thread that would wait for the one that joins it is refused, and can end`() throws {
        try onLoopThread { loop in
            for _ in 0..<100 {
                let worker = try RunLoopThread(name: "worker")
                worker.runLoop.perform {
                    worker.stop()
                    // Before, during or after the join.
                    do { try loop.performAndWait {} } catch {
                        #expect(error is PerformError)
                    }
                }
                #expect(worker.join())
            }
        }
    }

    @Test func `a sender that waits for room at the thread that joins it is refused`() throws {
        try onLoopThread { loop in
            let worker = try RunLoopThread(name: "worker")
            let port = Port<Int>(queueLimit: 1)
            loop.add(port, forMode: .default) { _ in }
            try port.send(0)
            let reason = Log<PortSendRefusal>()
            worker.runLoop.perform {
                do throws(PortSendError<Int>) { try port.send(1) } catch { reason.add(error.reason) }
            }
            waitUntilSendersWait(1, at: port)
            worker.stop()
            #expect(worker.join())
            #expect(reason.entries == [.wouldDeadlock])
        }
    }

    @Test func `a join waits until its deadline if no wait in the circle can be refused`() throws {
        let (one, two) = (try RunLoopThread(name: "one"), try RunLoopThread(name: "two"))
        // One thread waits for a block that has started, and this wait cannot be refused.
        try one.runLoop.performAndWait {
            try two.runLoop.performAndWait {
                #expect(!one.join(before: .now + .milliseconds(2)))
                #expect(!one.join(before: .distantPast))
            }
        }
        one.stop()
        two.stop()
        #expect(one.join(before: .hang))
        #expect(two.join(before: .hang))
    }

    @Test func `a join that has given up is in no circle any more`() throws {
        try onLoopThread { loop in
            let worker = try RunLoopThread(name: "worker")
            #expect(!worker.join(before: .now + .milliseconds(1)))
            let isServed = Gate()
            worker.runLoop.perform {
                #expect(refusal { try loop.performAndWait {} } == nil)
                isServed.open()
            }
            while !isServed.wait(seconds: 0) { loop.run(until: .now) }
            worker.stop()
            #expect(worker.join())
        }
    }

    @Test func `a join that would never return ends the program if no wait in the circle can be refused`()
        async
    {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let (one, two) = (try RunLoopThread(name: "one"), try RunLoopThread(name: "two"))
            try joinInCircle(one, two)
        }
        let message = result?.message ?? ""
        #expect(
            message.contains("RunLoopThread.join: it would never return, because run loop \"two\" waits in "))
        #expect(message.contains("RunLoopThread.join (RunLoopsTests/JoinTests.swift:"))
        #expect(
            message.contains("for run loop \"one\", which waits in RunLoop.performAndWait (RunLoopsTests/"))
        #expect(message.contains("call stop() only"))
    }

    @Test func `a thread does not wait for its own end`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let thread = try RunLoopThread(name: "worker")
            thread.runLoop.perform { thread.join(before: .now) }
            await thread.join()
        }
        #expect(result?.message.contains("RunLoopThread.join: called on the thread itself") == true)
    }

    @Test func `tasks and threads join one thread, before and after its end`() async throws {
        let thread = try RunLoopThread(name: "worker")
        let tasks = (0..<20).map { _ in Task { await thread.join() } }
        let threads = try Threads(4) { _ in #expect(thread.join()) }
        thread.stop()
        for task in tasks { #expect(await task.value) }
        try joined(threads)
        #expect(await thread.join())
        #expect(await thread.join(before: .now))
        // The thread no longer has a loop.
        #expect(!thread.runLoop.perform {})
    }

    @Test func `a task gives up at its deadline, and when it is cancelled`() async throws {
        let thread = try RunLoopThread(name: "worker")
        let deadline = ContinuousClock.now + .milliseconds(3)
        #expect(await !thread.join(before: deadline))
        #expect(ContinuousClock.now >= deadline)
        let task = Task { await thread.join(before: .distantFuture) }
        task.cancel()
        #expect(await !task.value)
        #expect(thread.ended.waitingCount == 0)
        thread.stop()
        #expect(await thread.join())
    }

    @Test func `a wait that has given up leaves nothing behind`() async throws {
        let notice = EndNotice()
        #expect(await !notice.wait(until: Moment(.now + .milliseconds(1))))
        #expect(notice.waitingCount == 0)
        #expect(block { notice.wait(until: Moment(.now + .milliseconds(1))) } == false)
        #expect(notice.waitingCount == 0)
        notice.post()
        #expect(await notice.wait(until: .never))
        #expect(block { notice.wait(until: .never) })
        #expect(notice.waitingCount == 0)
    }

    @Test func `stopping in any way, at any time, ends a thread once`() throws {
        for round in 0..<200 {
            let thread = try RunLoopThread(name: "worker")
            if round % 2 == 0 { thread.runLoop.perform { for _ in 0..<2 { thread.stop() } } }
            let stoppers = try Threads(3) { number in
                if number > 0 || round % 2 == 1 { thread.stop() }
                #expect(thread.join(before: .hang))
                thread.stop()
            }
            try stoppers.join()
            #expect(thread.join())
        }
    }

    private func joined(_ threads: Threads) throws { try threads.join() }

    private func block(_ body: () -> Bool) -> Bool { body() }
}

/// A thread waits for a block on another thread, and the block waits for the end of the first thread.
private func joinInCircle(_ one: RunLoopThread, _ two: RunLoopThread) throws {
    try one.runLoop.performAndWait { try two.runLoop.performAndWait { _ = one.join() } }
}
