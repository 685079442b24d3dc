import TestExpectations
import TestSupport
import Testing

@testable import RunLoops

/// Tasks that receive the messages of a port, one after another, without a loop.
@Suite struct PortMessagesTests {
    @Test func `messages are received in order, those from before as well, until the port ends`() async throws
    {
        let port = Port<Int>(queueLimit: 4)
        try await port.send(contentsOf: 0..<3)
        let sender = try Threads(1) { _ in
            for number in 3..<1_000 { try port.send(number) }
            try port.send(contentsOf: 1_000..<1_100)
            try port.makeSendOnceRight(ifUnused: 0).send(1_100)
        }
        var received: [Int] = []
        for await number in port.messages {
            received.append(number)
            if number == 1_100 { port.invalidate() }
        }
        try sender.join()
        #expect(received == Array(0...1_100))
        for await number in port.messages { Issue.record("the port has ended, and \(number) came") }
    }

    @Test func `the end of the port ends an iteration that waits`() async throws {
        let port = Port<Int>()
        let begins = Gate()
        let task = Task {
            var iterator = port.messages.makeAsyncIterator()
            begins.open()
            let first = await iterator.next()
            return [first, await iterator.next()]
        }
        #expect(begins.wait())
        await yieldUntil("the port is armed") { port.core.queue.mailbox.current.isArmed }
        port.invalidate()
        #expect(await task.value == [nil, nil])
    }

    // Guarantees: A message that a cancelled iteration has not received is received by the next receiver.
    @Test func `an iteration that is cancelled ends, and what it has not received is for the next receiver`()
        async throws
    {
        let port = Port<Int>()
        let first = Log<Int>()
        let task = Task {
            for await number in port.messages {
                first.add(number)
                if number == 2 { await yieldUntil("it is cancelled") { Task.isCancelled } }
            }
        }
        try await port.send(contentsOf: 0..<5)
        await yieldUntil("three are received") { first.entries.count == 3 }
        task.cancel()
        await task.value
        #expect(first.entries == [0, 1, 2])
        try await port.send(5)
        // The claim is free: a loop can have the port, and then another task.
        try await withLoopThread { thread in
            let second = Log<Int>()
            try await thread.runLoop.performAndWait {
                let loop = RunLoop.current
                loop.add(port, forMode: .default) { number in
                    second.add(number)
                    if number == 4 { loop.remove(port, forMode: .default) }
                }
                loop.settle()
            }
            #expect(second.entries == [3, 4])
        }
        var iterator = port.messages.makeAsyncIterator()
        #expect(await iterator.next() == 5)
    }

    // Guarantees: A message that a cancelled iteration has not received is received by the next receiver.
    @Test func `a task that is cancelled while it waits loses no message that comes then`() async throws {
        for round in 0..<200 {
            let port = Port<Int>()
            let task = Task {
                var received: [Int] = []
                for await number in port.messages { received.append(number) }
                return received
            }
            await yieldUntil("the port is armed") { port.core.queue.mailbox.current.isArmed }
            let sender = try BareThread { do { try port.send(round) } catch { Issue.record(error) } }
            task.cancel()
            sender.join()
            let received = await task.value
            var rest = port.messages.makeAsyncIterator()
            if received.isEmpty { #expect(await rest.next() == round) } else { #expect(received == [round]) }
        }
    }

    @Test func `an iterator whose task was cancelled stays at its end`() async throws {
        let port = Port<Int>()
        let task = Task {
            var iterator = port.messages.makeAsyncIterator()
            await yieldUntil("it is cancelled") { Task.isCancelled }
            let first = await iterator.next()
            // The iterator has released its claim.
            var second = port.messages.makeAsyncIterator()
            return [first, await iterator.next(), await second.next()]
        }
        try await port.send(1)
        task.cancel()
        #expect(await task.value == [nil, nil, nil])
        var iterator = port.messages.makeAsyncIterator()
        #expect(await iterator.next() == 1)
    }

    @Test func `leaving the loop of an iteration ends it, with messages left`() async throws {
        let port = Port<Int>()
        try await port.send(contentsOf: 0..<4)
        for expected in 0..<4 {
            for await number in port.messages {
                #expect(number == expected)
                break
            }
        }
    }

    @Test func `receiving makes room for senders that wait`() async throws {
        let port = Port<Int>(queueLimit: 1)
        let threads = try Threads(4) { index in for number in 0..<50 { try port.send(index * 50 + number) } }
        let tasks = (4..<8).map { index in
            Task { for number in 0..<50 { try await port.send(index * 50 + number) } }
        }
        var received: Set<Int> = []
        for await number in port.messages {
            received.insert(number)
            if received.count == 400 { break }
        }
        #expect(received == Set(0..<400))
        try threads.join()
        for task in tasks { try await task.value }
    }

    @Test func `signals that come while the task is busy are one element, and none is lost`() async throws {
        let port = Port<Void>()
        var iterator = port.messages.makeAsyncIterator()
        for _ in 0..<100 {
            try port.send()
            try port.send()
            #expect(await iterator.next() != nil)
            let sender = try BareThread { do { try port.send() } catch { Issue.record(error) } }
            #expect(await iterator.next() != nil)
            sender.join()
        }
        let task = Task { port.invalidate() }
        #expect(await iterator.next() == nil)
        await task.value
    }

    @Test func `messages of send-once rights are received, and notices are not`() async throws {
        let port = Port<Int>()
        try await withLoopThread { thread in
            try await thread.runLoop.performAndWait {
                RunLoop.current.add(port, forMode: .init("never")) { _ in }
                var right: SendRight<Int>? = port.makeSendRight()
                port.onNoSenders { _ in Issue.record("the port is in no loop") }
                withExtendedLifetime(right) {}
                right = nil
                RunLoop.current.remove(port, forMode: .init("never"))
            }
        }
        try port.makeSendOnceRight(ifUnused: 7).send(8)
        _ = port.makeSendOnceRight(ifUnused: 9)
        var iterator = port.messages.makeAsyncIterator()
        #expect(await iterator.next() == 8)
        #expect(await iterator.next() == 9)
    }

    @Test func `an iteration holds its port, and what is left is destroyed with the port`() async throws {
        let alive = Shared()
        func makeIterator() throws -> Port<Counted>.Messages.Iterator {
            let port = Port<Counted>()
            for _ in 0..<3 { try port.send(Counted(alive)) }
            return port.messages.makeAsyncIterator()
        }
        do {
            var iterator = try makeIterator()
            #expect(await iterator.next() != nil)
            #expect(alive.count == 2)
        }
        #expect(alive.count == 0)
    }

    @Test func `elements come back to the actor that awaits them`() async throws {
        try await withLoopThread { thread in
            let port = Port<Int>()
            let resident = Resident(thread.runLoop)
            async let isHere = resident.receive(100, from: port)
            for number in 0..<100 {
                try await port.send(number)
                if number.isMultiple(of: 10) { await Task.yield() }
            }
            #expect(await isHere)
        }
    }

    @Test func `a port has one receiver`() async {
        let expected = "the port made at"
        let inLoop = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let port = Port<Int>()
            try onLoopThread { loop in
                loop.add(port, forMode: .default) { _ in }
                _ = port.messages.makeAsyncIterator()
            }
        }
        #expect(inLoop?.message.contains("Port.messages: \(expected)") == true)
        let twice = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let port = Port<Int>()
            let first = port.messages.makeAsyncIterator()
            let second = port.messages.makeAsyncIterator()
            withExtendedLifetime((first, second)) {}
        }
        #expect(twice?.message.contains("Port.messages: \(expected)") == true)
        let added = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let port = Port<Int>()
            let iterator = port.messages.makeAsyncIterator()
            try onLoopThread { $0.add(port, forMode: .default) { _ in } }
            withExtendedLifetime(iterator) {}
        }
        #expect(added?.message.contains("RunLoop.add(port): \(expected)") == true)
        let inSet = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let port = Port<Int>()
            let iterator = port.messages.makeAsyncIterator()
            PortSet<Int>().add(port)
            withExtendedLifetime(iterator) {}
        }
        #expect(inSet?.message.contains("PortSet.add: \(expected)") == true)
    }
}

extension Resident {
    /// Receives messages, and returns true if each call has returned on the loop's thread, in order.
    fileprivate func receive(_ count: Int, from port: Port<Int>) async -> Bool {
        var iterator = port.messages.makeAsyncIterator()
        var isRight = true
        for number in 0..<count {
            let received = await iterator.next(isolation: self)
            isRight = isRight && received == number && loop.isCurrent
        }
        return isRight
    }
}
