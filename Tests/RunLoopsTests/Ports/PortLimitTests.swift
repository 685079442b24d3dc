import Synchronization
import TestExpectations
import TestSupport
import Testing

@testable import RunLoops

/// Senders at a full port wait in turn, until there is room, their deadline passes, or the port ends.
@Suite struct PortLimitTests {
    @Test func `a full port refuses a sender whose deadline has passed, and gives the message back`() throws {
        try onLoopThread { loop in
            let port = Port<String>(queueLimit: 2)
            try port.send("a", before: .distantPast)
            try port.send("b", before: .now)
            let error = #expect(throws: PortSendError<String>.self) { try port.send("c", before: .now) }
            #expect(error?.reason == .timedOut)
            #expect(error?.messages == ["c"])
            var received: [String] = []
            loop.add(port, forMode: .default) { received.append($0) }
            loop.pass()
            try port.send("d", before: .distantPast)
            loop.pass()
            #expect(received == ["a", "b", "d"])
        }
    }

    @Test func `a sender waits until its deadline, and not less`() throws {
        let port = Port<Int>(queueLimit: 1)
        try port.send(0)
        let deadline = ContinuousClock.now + .milliseconds(10)
        let error = #expect(throws: PortSendError<Int>.self) { try port.send(1, before: deadline) }
        #expect(error?.reason == .timedOut)
        #expect(ContinuousClock.now >= deadline)
    }

    @Test func `the receiver's own thread does not wait for itself`() throws {
        try onLoopThread { loop in
            let port = Port<Int>(queueLimit: 3)
            loop.add(port, forMode: .default) { _ in }
            try port.send(contentsOf: [1, 2])
            for deadline in [nil, .now + .seconds(60), .distantFuture] as [ContinuousClock.Instant?] {
                let error = #expect(throws: PortSendError<Int>.self) {
                    try port.send(contentsOf: [3, 4, 5], before: deadline)
                }
                #expect(error?.reason == .wouldDeadlock)
                #expect(error?.messages == [4, 5])
                loop.settle()
                try port.send(contentsOf: [1, 2])
            }
            try port.send(3)
            let error = #expect(throws: PortSendError<Int>.self) { try port.send(4, before: .distantPast) }
            #expect(error?.reason == .timedOut)
        }
    }

    @Test func `a message's room is free when its handler starts`() throws {
        try onLoopThread { loop in
            let port = Port<Int>(queueLimit: 1)
            var received: [Int] = []
            loop.add(port, forMode: .default) { number in
                received.append(number)
                do { if number < 10 { try port.send(number + 1) } } catch { Issue.record(error) }
            }
            try port.send(1)
            while received.count < 10 { loop.pass() }
            #expect(received == Array(1...10))
        }
    }

    @Test(arguments: [1, 2, 5]) func `senders that wait are served in turn`(limit: Int) throws {
        let port = Port<Int>(queueLimit: PortQueueLimit(limit))
        for number in 0..<limit { try port.send(number) }
        var senders: [Threads] = []
        for sender in 0..<6 {
            senders.append(try Threads(1) { _ in try port.send(limit + sender) })
            waitUntilSendersWait(sender + 1, at: port)
        }
        try onLoopThread { loop in
            var received: [Int] = []
            loop.add(port, forMode: .default) { number in
                received.append(number)
                if number == limit + 5 { loop.stop() }
            }
            loop.run(in: .default)
            #expect(received == Array(0..<limit + 6))
        }
        for sender in senders { try sender.join() }
    }

    @Test func `a newcomer does not overtake senders that wait`() throws {
        let port = Port<Int>(queueLimit: 2)
        try port.send(contentsOf: [0, 1])
        // The two messages of this sender are sent together, so that the sender still waits when there is room for one.
        let patient = try Threads(1) { _ in
            let (first, second) = (Node.make(), Node.make())
            first.store(2)
            first.next = nil
            second.store(3)
            second.next = first
            #expect(port.core.send(second, 2, before: .distantFuture) == nil)
        }
        waitUntilSendersWait(1, at: port)
        try onLoopThread { loop in
            var received: [Int] = []
            loop.add(port, forMode: .default) { number in
                received.append(number)
                if number == 0 {
                    let error = #expect(throws: PortSendError<Int>.self) {
                        try port.send(9, before: .distantPast)
                    }
                    #expect(error?.reason == .timedOut)
                }
                if number == 3 { loop.stop() }
            }
            loop.run(in: .default)
            #expect(received == [0, 1, 2, 3])
        }
        try patient.join()
    }

    @Test func `a sender that gives up leaves the line to the others`() throws {
        let port = Port<Int>(queueLimit: 1)
        try port.send(0)
        let deadline = ContinuousClock.now + .milliseconds(50)
        let hasty = try Threads(1) { _ in
            let error = #expect(throws: PortSendError<Int>.self) { try port.send(1, before: deadline) }
            #expect(error?.messages == [1])
        }
        let patient = try Threads(1) { _ in try port.send(2) }
        try hasty.join()
        waitUntilSendersWait(1, at: port)
        try onLoopThread { loop in
            var received: [Int] = []
            loop.add(port, forMode: .default) { number in
                received.append(number)
                if number == 2 { loop.stop() }
            }
            loop.run(in: .default)
            #expect(received == [0, 2])
        }
        try patient.join()
    }

    @Test func `ending a port wakes all waiting senders, which keep their messages`() throws {
        let alive = Shared()
        let port = Port<Counted>(queueLimit: 1)
        try port.send(Counted(alive))
        let senders = try Threads(4) { _ in
            let error = #expect(throws: PortSendError<Counted>.self) { try port.send(Counted(alive)) }
            #expect(error?.reason == .invalid)
            #expect(error?.messages.count == 1)
        }
        waitUntilSendersWait(4, at: port)
        port.invalidate()
        try senders.join()
        #expect(alive.count == 0)
    }

    @Test func `waiting does not run the sender's loop`() throws {
        let port = Port<Int>(queueLimit: 1)
        try port.send(0)
        let log = Log<String>()
        let sender = try RunLoopThread(name: "sender")
        sender.runLoop.perform {
            do { try port.send(1) } catch { Issue.record(error) }
            log.add("sent")
        }
        waitUntilSendersWait(1, at: port)
        sender.runLoop.perform { log.add("block") }
        log.add("room")
        try onLoopThread { loop in
            loop.add(port, forMode: .default) { number in if number == 1 { loop.stop() } }
            loop.run(in: .default)
        }
        try sender.runLoop.performAndWait {}
        #expect(log.entries == ["room", "sent", "block"])
        sender.stop()
        sender.join()
    }

    @Test func `an unlimited port is never full`() throws {
        let port = Port<Int>(queueLimit: .unlimited)
        for number in 0..<5_000 { try port.send(number, before: .distantPast) }
        try port.send(contentsOf: 5_000..<10_000, before: .distantPast)
        try onLoopThread { loop in
            var next = 0
            loop.add(port, forMode: .default) { number in
                #expect(number == next)
                next += 1
            }
            while next < 10_000 { loop.pass() }
        }
    }
}

/// Waits until at least this number of senders wait at a port.
func waitUntilSendersWait<Message>(_ count: Int, at port: Port<Message>) {
    waitUntil("\(count) senders wait") { waitingSenders(at: port) >= count }
}

/// The number of senders that wait at a port.
func waitingSenders<Message>(at port: Port<Message>) -> Int {
    port.core.queue.waitingCount.load(ordering: .sequentiallyConsistent)
}
