import TestExpectations
import TestSupport
import Testing

@testable import RunLoops

/// Tasks that send to a port wait in the same line as threads that block, and occupy no thread.
@Suite struct PortAwaitingTests {
    /// Removes all messages from a port, and returns them.
    private func drain(_ port: Port<Int>) async throws -> [Int] {
        try await withLoopThread { thread in
            try await thread.runLoop.performAndWait {
                let loop = RunLoop.current
                let log = Log<Int>()
                loop.add(port, forMode: .default) { log.add($0) }
                loop.settle()
                loop.remove(port, forMode: .default)
                return log.entries
            }
        }
    }

    @Test func `a message is sent at once while there is room, one by one or several`() async throws {
        let port = Port<Int>(queueLimit: 6)
        let right = port.makeSendRight()
        try await port.send(1)
        try await port.send(2, before: .distantPast)
        try await right.send(3)
        try await right.send(4, before: .hang)
        try await port.send(contentsOf: [5])
        try await right.send(contentsOf: [6])
        #expect(waitingSenders(at: port) == 0)
        #expect(try await drain(port) == [1, 2, 3, 4, 5, 6])
        let signals = Port<Void>()
        try await signals.send(())
        try signals.send()
    }

    // Guarantees: Threads, tasks and handlers that wait for room are served in the order in which they came.
    @Test func `tasks and threads wait in one line, first come, first served, and tasks hold no thread`()
        async throws
    {
        let port = Port<Int>(queueLimit: 1)
        try await port.send(-1)
        let threads = Log<Threads>()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<200 {
                if number.isMultiple(of: 20) {
                    threads.add(try Threads(1) { _ in try port.send(number) })
                } else {
                    group.addTask { try await port.send(number) }
                }
                await yieldUntil("sender \(number) waits") { waitingSenders(at: port) == number + 1 }
            }
            #expect(try await drain(port) == [-1] + Array(0..<200))
            try await group.waitForAll()
        }
        for thread in threads.entries { try thread.join() }
        #expect(waitingSenders(at: port) == 0)
    }

    // Guarantees: A message of a task that is cancelled while it waits is sent or given back, and not both.
    @Test func `a task that is cancelled leaves the line with its message, and those behind are served`()
        async throws
    {
        let port = Port<Int>(queueLimit: 2)
        try port.fill()
        let first = Task { await outcome { try await port.send(contentsOf: [10, 11]) } }
        await yieldUntil("the first waits") { waitingSenders(at: port) == 1 }
        let second = Task { await outcome { try await port.send(20) } }
        await yieldUntil("the second waits") { waitingSenders(at: port) == 2 }
        let third = Task { await outcome { try await port.makeSendRight().send(30) } }
        await yieldUntil("the third waits") { waitingSenders(at: port) == 3 }
        second.cancel()
        #expect(await second.value == Outcome(.cancelled, [20]))
        #expect(waitingSenders(at: port) == 2)
        first.cancel()
        #expect(await first.value == Outcome(.cancelled, [10, 11]))
        #expect(try await drain(port) == [0, 1, 30])
        #expect(await third.value == Outcome(nil, []))
    }

    @Test func `a task that was cancelled before tries once, and does not wait`() async throws {
        let port = Port<Int>(queueLimit: 1)
        let task = Task {
            await yieldUntil("the task is cancelled") { Task.isCancelled }
            let first = await outcome { try await port.send(1) }
            return [first, await outcome { try await port.send(2) }]
        }
        task.cancel()
        #expect(await task.value == [Outcome(nil, []), Outcome(.cancelled, [2])])
        #expect(try await drain(port) == [1])
    }

    @Test func `a deadline ends the wait, not before it has passed, and gives the messages back`()
        async throws
    {
        let port = Port<Int>(queueLimit: 1)
        try port.fill()
        let deadline = ContinuousClock.now + .milliseconds(20)
        #expect(await outcome { try await port.send(1, before: deadline) } == Outcome(.timedOut, [1]))
        #expect(ContinuousClock.now >= deadline)
        #expect(await outcome { try await port.send(2, before: .distantPast) } == Outcome(.timedOut, [2]))
        let several = await outcome {
            try await port.makeSendRight().send(contentsOf: [3, 4], before: .distantPast)
        }
        #expect(several == Outcome(.timedOut, [3, 4]))
        #expect(waitingSenders(at: port) == 0)
        #expect(try await drain(port) == [0])
    }

    @Test func `what of a collection has no room any more is given back, and the rest is sent`() async throws
    {
        let port = Port<Int>(queueLimit: 3)
        try await port.send(0)
        let task = Task { await outcome { try await port.send(contentsOf: 1..<6) } }
        await yieldUntil("it waits") { waitingSenders(at: port) == 1 }
        task.cancel()
        #expect(await task.value == Outcome(.cancelled, [3, 4, 5]))
        #expect(try await drain(port) == [0, 1, 2])
        port.invalidate()
        #expect(await outcome { try await port.send(contentsOf: [7, 8]) } == Outcome(.invalid, [7, 8]))
    }

    @Test func `the end of the port ends the waits, and gives the messages back`() async throws {
        let port = Port<Int>(queueLimit: 1)
        try port.fill()
        let tasks = (1..<4).map { number in Task { await outcome { try await port.send(number) } } }
        await yieldUntil("all wait") { waitingSenders(at: port) == 3 }
        port.invalidate()
        for (number, task) in zip(1..., tasks) {
            #expect(await task.value == Outcome(.invalid, [number]))
        }
        #expect(await outcome { try await port.send(9) } == Outcome(.invalid, [9]))
    }

    @Test func `the receiver's own loop may await room, and the call comes back to its actor`() async throws {
        try await withLoopThread { thread in
            let port = Port<Int>(queueLimit: 1)
            let received = Log<Int>()
            try await thread.runLoop.performAndWait {
                RunLoop.current.add(port, forMode: .common) { received.add($0) }
            }
            let resident = Resident(thread.runLoop)
            let isHere = try await resident.send(0..<100, to: port)
            #expect(isHere)
            await yieldUntil("all are received") { received.entries.count == 100 }
            #expect(received.entries == Array(0..<100))
        }
    }

    @Test func `a send with room makes no job`() async throws {
        try await withLoopThread { thread in
            let port = Port<Int>()
            let resident = Resident(thread.runLoop)
            let before = thread.runLoop.statistics.messages
            let isHere = try await resident.send(0..<100, to: port)
            #expect(isHere)
            #expect(thread.runLoop.statistics.messages - before <= 1)
        }
    }

    @Test func `a right is held until its message is queued, so the notice comes after it`() async throws {
        try await withLoopThread { thread in
            let port = Port<Int>(queueLimit: 1)
            try port.fill()
            let right = Guarded<SendRight<Int>?>(port.makeSendRight())
            let task = Task {
                guard
                    let right = right.withLock({ right in
                        defer { right = nil }
                        return right
                    })
                else { return }
                try await right.send(1)
            }
            await yieldUntil("the task waits") { waitingSenders(at: port) == 1 }
            let log = Log<String>()
            try await thread.runLoop.performAndWait {
                RunLoop.current.add(port, forMode: .common) { log.add("\($0)") }
                port.onNoSenders { _ in log.add("no senders") }
            }
            try await task.value
            await yieldUntil("the notice comes") { log.entries.count == 3 }
            #expect(log.entries == ["0", "1", "no senders"])
        }
    }
}

/// The outcome of a send.
private struct Outcome: Equatable, Sendable {
    /// The reason of the error, or nil if the send succeeded.
    let reason: PortSendRefusal?
    /// The messages that the error returned.
    let messages: [Int]

    init(_ reason: PortSendRefusal?, _ messages: [Int]) {
        self.reason = reason
        self.messages = messages
    }
}

nonisolated(nonsending) private func outcome(
    _ send: nonisolated(nonsending) () async throws -> Void
) async -> Outcome {
    do {
        try await send()
    } catch let error as PortSendError<Int> {
        return Outcome(error.reason, error.messages)
    } catch {
        Issue.record(error)
    }
    return Outcome(nil, [])
}

extension Port where Message == Int {
    /// Fills the port with the numbers from 0.
    fileprivate func fill() throws {
        for number in 0..<(queueLimit.count ?? 0) { try send(number, before: .distantPast) }
    }
}

extension Resident {
    /// Sends numbers, and returns true if each call has returned on the loop's thread.
    fileprivate func send(_ numbers: Range<Int>, to port: Port<Int>) async throws -> Bool {
        var isHere = true
        for number in numbers {
            try await port.send(number)
            isHere = isHere && loop.isCurrent
        }
        return isHere
    }
}
