import TestExpectations
import TestSupport
import Testing

@testable import RunLoops

/// Tasks that await replies get the same results as threads that block, and occupy no thread.
@Suite struct AsyncRequestTests {
    /// Adds a port to a loop, with a handler that answers the requests.
    private func serve(
        _ port: Port<Question<Int>>, on loop: RunLoop, _ handler: @escaping @Sendable (Question<Int>) -> Void
    ) async throws {
        try await loop.performAndWait { RunLoop.current.add(port, forMode: .common, handler: handler) }
    }

    @Test func `the answer comes back`() async throws {
        try await withLoopThread { thread in
            let port = Port<Question<Int>>()
            try await serve(port, on: thread.runLoop) { $0.reply.reply($0.number + 1) }
            for number in 0..<300 {
                #expect(try await port.request { Question(number: number, reply: $0) } == number + 1)
            }
            let right = port.makeSendRight()
            #expect(try await right.request(before: .hang) { Question(number: 1, reply: $0) } == 2)
        }
    }

    @Test func `hundreds of tasks wait at a port with room for one, and no thread does`() async throws {
        try await withLoopThread { thread in
            let port = Port<Question<Int>>(queueLimit: 1)
            let total = await withTaskGroup(of: Int.self) { group in
                for number in 0..<400 {
                    group.addTask {
                        do {
                            let answer = try await port.request { Question(number: number, reply: $0) }
                            return answer == number ? 1 : 0
                        } catch {
                            Issue.record(error)
                            return 0
                        }
                    }
                }
                // All tasks but one are in line, although there are fewer threads.
                await comesToBe("all but one are in line") { waitingSenders(at: port) == 399 }
                do { try await serve(port, on: thread.runLoop) { $0.reply.reply($0.number) } } catch {
                    Issue.record(error)
                }
                return await group.reduce(0, +)
            }
            #expect(total == 400)
            #expect(waitingSenders(at: port) == 0)
        }
    }

    @Test func `the receiver's own loop may await an answer of its own`() async throws {
        try await withLoopThread { thread in
            let port = Port<Question<Int>>()
            try await serve(port, on: thread.runLoop) { $0.reply.reply(5) }
            let resident = Resident(thread.runLoop)
            #expect(try await resident.ask(port) == 5)
        }
    }

    @Test func `the answer comes back to the actor that asked`() async throws {
        try await withLoopThread("near") { near in
            try await withLoopThread("far") { far in
                let port = Port<Question<Int>>()
                try await serve(port, on: far.runLoop) { $0.reply.reply(6) }
                let resident = Resident(near.runLoop)
                for _ in 0..<100 { #expect(try await resident.ask(port) == 6) }
                // One job wakes the task for each answer, or none if the answer arrives before the task suspends.
                let before = near.runLoop.statistics.messages
                try await resident.ask(port, times: 100)
                #expect(near.runLoop.statistics.messages - before <= 101)
            }
        }
    }

    @Test func `an unused right, the port's end and a deadline are told`() async throws {
        try await withLoopThread { thread in
            let port = Port<Question<Int>>()
            let kept = Log<Question<Int>>()
            try await serve(port, on: thread.runLoop) { if $0.number == 1 { kept.add($0) } }
            await #expect(throws: RequestError(.noReply)) {
                _ = try await port.request { Question(reply: $0) }
            }
            // Until one request was received before its deadline. The others are never answered.
            while kept.entries.isEmpty {
                let deadline = ContinuousClock.now + .milliseconds(10)
                await #expect(throws: RequestError(.timedOut)) {
                    _ = try await port.request(before: deadline) { Question(number: 1, reply: $0) }
                }
                #expect(ContinuousClock.now >= deadline)
                try await thread.runLoop.performAndWait {}
            }
            #expect(kept.entries.first?.reply.reply(1) == false)
            #expect(port.lateReplyCount == 1)
            await #expect(throws: RequestError(.timedOut)) {
                _ = try await port.request(before: .now) { Question(reply: $0) }
            }
            port.invalidate()
            await #expect(throws: RequestError(.invalid)) {
                _ = try await port.request { Question(reply: $0) }
            }
        }
    }

    @Test func `the port's end ends the wait of those in its queue and in its line`() async throws {
        let port = Port<Question<Int>>(queueLimit: 2)
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<6 {
                group.addTask {
                    await #expect(throws: RequestError(.invalid)) {
                        _ = try await port.request { Question(reply: $0) }
                    }
                }
            }
            await comesToBe("four are in line") { waitingSenders(at: port) == 4 }
            port.invalidate()
        }
    }

    @Test func `cancelling ends the wait, wherever the message is`() async throws {
        let port = Port<Question<Int>>(queueLimit: 1)
        func ask() -> Task<RequestError.Reason?, Never> {
            Task {
                do throws(RequestError) { _ = try await port.request { Question(reply: $0) } } catch {
                    return error.reason
                }
                return nil
            }
        }
        let queued = ask()
        await comesToBe("it is queued") { port.core.queue.mailbox.current.node != nil }
        let inLine = ask()
        await comesToBe("it is in line") { waitingSenders(at: port) == 1 }
        inLine.cancel()
        #expect(await inLine.value == .cancelled)
        #expect(waitingSenders(at: port) == 0)
        queued.cancel()
        #expect(await queued.value == .cancelled)
        let before = Task { () -> RequestError.Reason? in
            await comesToBe("it is cancelled") { Task.isCancelled }
            do throws(RequestError) {
                _ = try await port.request { (reply: ReplyRight<Int>) in
                    Issue.record("nothing is sent for a task that is cancelled already")
                    return Question(reply: reply)
                }
            } catch { return error.reason }
            return nil
        }
        before.cancel()
        #expect(await before.value == .cancelled)
        // The queued request is delivered, and the answer is late.
        try onLoopThread { loop in
            loop.add(port, forMode: .default) { question in
                #expect(!question.reply.isAwaited)
                question.reply.reply(1)
            }
            loop.settle()
        }
        #expect(port.lateReplyCount == 1)
    }
}

/// Waits until a condition holds, and yields the thread to other tasks meanwhile.
private func comesToBe(_ what: String, _ holds: () -> Bool) async {
    let end = ContinuousClock.now + .seconds(30)
    // Between two turns of this task, all other tasks have a turn, and those can be long.
    var turns = 0
    while !holds() {
        if turns > 1_000, ContinuousClock.now > end {
            Issue.record("it does not come to be: \(what)")
            return
        }
        turns += 1
        await Task.yield()
    }
}

extension Resident {
    /// Sends a request from inside the actor.
    fileprivate func ask(_ port: Port<Question<Int>>) async throws -> Int {
        var asked = 0
        let answer = try await port.request { reply in
            #expect(loop.isCurrent)
            asked += 1
            return Question(reply: reply)
        }
        #expect(loop.isCurrent)
        #expect(asked == 1)
        return answer
    }

    /// Sends a number of requests, and nothing else.
    fileprivate func ask(_ port: Port<Question<Int>>, times: Int) async throws {
        for _ in 0..<times { _ = try await port.request { Question(reply: $0) } }
    }
}
