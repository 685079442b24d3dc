import TestExpectations
import TestSupport
import Testing

@testable import RunLoops

/// Large batches and many senders at a port with a small queue.
@Suite struct PortBatchTests {
    @Test(arguments: [1, 7, 100, 1_000] as [PortQueueLimit])
    func `a batch longer than the limit arrives whole, in order`(
        limit: PortQueueLimit
    ) throws {
        try onLoopThread { loop in
            let port = Port<Int>(queueLimit: limit)
            var next = 0
            loop.add(port, forMode: .default) { number in
                #expect(number == next)
                next += 1
                if next == 1_000 { loop.stop() }
            }
            let sender = try Threads(1) { _ in try port.send(contentsOf: 0..<1_000) }
            #expect(loop.run(in: .default, until: .hang) == .stopped)
            try sender.join()
        }
    }

    @Test func `a batch whose deadline has passed sends what fits, and gives back the rest`() throws {
        let port = Port<Int>(queueLimit: 7)
        try port.send(contentsOf: [0, 1, 2])
        let error = #expect(throws: PortSendError<Int>.self) {
            try port.send(contentsOf: 3..<20, before: .distantPast)
        }
        #expect(error?.reason == .timedOut)
        #expect(error?.messages == Array(7..<20))
        try onLoopThread { loop in
            var received: [Int] = []
            loop.add(port, forMode: .default) { received.append($0) }
            loop.settle()
            #expect(received == Array(0..<7))
        }
    }

    @Test func `an empty batch sends nothing`() throws {
        let port = Port<Int>(queueLimit: 1)
        try port.send(0)
        try port.send(contentsOf: [])
        let signals = Port<Void>()
        try signals.send(contentsOf: [])
        let isRung = signals.core.bell.isRung
        #expect(!isRung)
    }

    @Test func `the part of a batch that is sent at once is never larger than the limit`() throws {
        let limit = 4
        let port = Port<Int>(queueLimit: PortQueueLimit(limit))
        let thread = try RunLoopThread(name: "receiver")
        try thread.runLoop.performAndWait {
            RunLoop.current.waitPolicy = .spin(for: .milliseconds(1))
            RunLoop.current.add(port, forMode: .default) { _ in }
        }
        let isOver = Shared()
        let sender = try Threads(1) { _ in
            while isOver.count == 0 { try port.send(contentsOf: 0..<64) }
        }
        var most = 0
        let end = ContinuousClock.now + .milliseconds(300)
        while ContinuousClock.now < end { for _ in 0..<100 { most = max(most, port.core.roomAtOnce()) } }
        isOver.increment()
        try sender.join()
        thread.stop()
        thread.join()
        #expect(most <= limit)
    }

    @Test func `a port counts its room over more messages than a word counts`() throws {
        try onLoopThread { loop in
            // Twice the largest limit exceeds 2²⁰.
            let port = Port<Int>(queueLimit: 1_000_000)
            var received = 0
            loop.add(port, forMode: .default) { _ in received += 1 }
            for round in 1...2 {
                try port.send(contentsOf: repeatElement(round, count: 1_000_000), before: .distantPast)
                let error = #expect(throws: PortSendError<Int>.self) {
                    try port.send(0, before: .distantPast)
                }
                #expect(error?.reason == .timedOut)
                while received < round * 1_000_000 { loop.pass() }
            }
            try port.send(0, before: .distantPast)
        }
    }

    // Guarantees: A message that was accepted is delivered, unless the port ends first.
    @Test(arguments: 0..<8 as Range<UInt64>)
    func `with many senders and random deadlines, what is accepted is what arrives`(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        let senders = 8
        let limit = Int.random(in: 1...5, using: &random)
        let port = Port<Item>(queueLimit: PortQueueLimit(limit))
        let thread = try RunLoopThread(name: "receiver")
        let received = Log<Item>()
        try thread.runLoop.performAndWait {
            RunLoop.current.add(port, forMode: .default) { received.add($0) }
        }

        let accepted = (0..<senders).map { _ in Log<Int>() }
        let threads = try Threads(senders) { sender in
            var random = SplitMix64(seed: seed &* 100 &+ UInt64(sender))
            for number in 0..<300 {
                let wait = Int.random(in: -20...100, using: &random)
                let deadline = ContinuousClock.now + .microseconds(wait)
                do throws(PortSendError<Item>) {
                    if Int.random(in: 0..<4, using: &random) == 0 {
                        let items = [0, 1].map { Item(sender: sender, number: 2 * number + $0) }
                        try port.send(contentsOf: items, before: deadline)
                        accepted[sender].add(2 * number)
                        accepted[sender].add(2 * number + 1)
                    } else {
                        try port.send(Item(sender: sender, number: 2 * number), before: deadline)
                        accepted[sender].add(2 * number)
                    }
                } catch {
                    #expect(error.reason == .timedOut)
                    // Of two messages, the first can have been sent.
                    if error.messages.first?.number == 2 * number + 1 { accepted[sender].add(2 * number) }
                }
            }
        }
        try threads.join()
        let total = accepted.map(\.entries.count).reduce(0, +)
        let end = ContinuousClock.now + .seconds(30)
        while received.entries.count < total && ContinuousClock.now < end {
            try thread.runLoop.performAndWait {}
        }
        thread.stop()
        thread.join()
        for sender in 0..<senders {
            #expect(received.entries.filter { $0.sender == sender }.map(\.number) == accepted[sender].entries)
        }
    }

    private struct Item: Sendable {
        let sender: Int
        let number: Int
    }
}
