import TestExpectations
import TestSupport
import Testing

@testable import RunLoops

/// A right for one message, from which the receiver gets exactly one message, used or not.
@Suite struct SendOnceRightTests {
    @Test func `a right that is used sends its message, and nothing else`() throws {
        try onLoopThread { loop in
            let port = Port<String>()
            var received: [String] = []
            loop.add(port, forMode: .default) { received.append($0) }
            let right = port.makeSendOnceRight(ifUnused: "unused")
            #expect(port.sendOnceRightCount == 1)
            try right.send("answer")
            #expect(port.sendOnceRightCount == 0)
            loop.settle()
            #expect(received == ["answer"])
        }
    }

    @Test func `a right that is destroyed unused sends its other message, after everything sent before`()
        throws
    {
        try onLoopThread { loop in
            let port = Port<String>()
            var received: [String] = []
            loop.add(port, forMode: .default) { received.append($0) }
            do {
                let right = port.makeSendOnceRight(ifUnused: "unused")
                try port.send("before")
                _ = consume right
            }
            try port.send("after")
            #expect(port.sendOnceRightCount == 0)
            loop.settle()
            #expect(received == ["before", "unused", "after"])
        }
    }

    @Test func `a message of any size and kind fits`() throws {
        try onLoopThread { loop in
            let port = Port<[Large]>()
            let wide = Port<Large>()
            var sums: [Int] = []
            loop.add(port, forMode: .default) { sums.append($0.reduce(0) { $0 + $1.sum }) }
            loop.add(wide, forMode: .default) { sums.append($0.sum) }
            try wide.makeSendOnceRight(ifUnused: Large(1)).send(Large(2))
            _ = wide.makeSendOnceRight(ifUnused: Large(3))
            try port.makeSendOnceRight(ifUnused: []).send([Large(1), Large(2)])
            loop.settle()
            #expect(sums.sorted() == [24, 36, 36])
        }
    }

    private struct Large: Sendable {
        let (a, b, c, d, e, f): (Int, Int, Int, Int, Int, Int)
        let (g, h, i, j, k, l): (Int, Int, Int, Int, Int, Int)
        init(_ number: Int) {
            (a, b, c, d, e, f) = (number, number, number, number, number, number)
            (g, h, i, j, k, l) = (number, number, number, number, number, number)
        }
        var sum: Int { a + b + c + d + e + f + g + h + i + j + k + l }
    }

    @Test func `a full port takes the message of a send-once right at once, and it takes no room`() throws {
        try onLoopThread { loop in
            let port = Port<Int>(queueLimit: 2)
            var received: [Int] = []
            loop.add(port, forMode: .default) { received.append($0) }
            try port.send(contentsOf: [1, 2])
            for number in 3...5 { try port.makeSendOnceRight(ifUnused: 0).send(number) }
            #expect(throws: PortSendError<Int>.self) { try port.send(9, before: .distantPast) }
            loop.settle()
            #expect(received == [1, 2, 3, 4, 5])
            try port.makeSendOnceRight(ifUnused: 0).send(6)
            try port.send(contentsOf: [7, 8], before: .distantPast)
            #expect(throws: PortSendError<Int>.self) { try port.send(9, before: .distantPast) }
            loop.settle()
            #expect(received == Array(1...8))
        }
    }

    @Test(arguments: 0..<40) func `the limit holds for other messages, with any number of messages beyond it`(
        seed: UInt64
    )
        throws
    {
        try onLoopThread { loop in
            var random = SplitMix64(seed: seed)
            let limit = Int.random(in: 1...20, using: &random)
            let port = Port<Int>(queueLimit: PortQueueLimit(limit))
            var received: [Int] = []
            var expected: [Int] = []
            // For each queued message, true if it counts toward the limit.
            var line: [Bool] = []
            loop.add(port, forMode: .default) {
                received.append($0)
                line.removeFirst()
            }
            for number in 0..<400 {
                switch Int.random(in: 0..<8, using: &random) {
                case 0..<4:
                    let hasRoom = line.count(where: { $0 }) < limit
                    do {
                        try port.send(number, before: .distantPast)
                        #expect(hasRoom)
                        expected.append(number)
                        line.append(true)
                    } catch {
                        #expect(!hasRoom)
                    }
                case 4..<7:
                    if Bool.random(using: &random) {
                        try port.makeSendOnceRight(ifUnused: -1).send(number)
                    } else {
                        _ = port.makeSendOnceRight(ifUnused: number)
                    }
                    expected.append(number)
                    line.append(false)
                default: loop.pass()
                }
            }
            loop.settle()
            #expect(received == expected)
        }
    }

    @Test func `senders that wait for room are served behind the message of a send-once right`() throws {
        let port = Port<Int>(queueLimit: 1)
        try port.send(0)
        let sender = try Threads(1) { _ in try port.send(2) }
        waitUntilSendersWait(1, at: port)
        try port.makeSendOnceRight(ifUnused: -1).send(1)
        try onLoopThread { loop in
            var received: [Int] = []
            loop.add(port, forMode: .default) {
                received.append($0)
                if received.count == 3 { loop.stop() }
            }
            #expect(loop.run(in: .default, until: .hang) == .stopped)
            #expect(received.sorted() == [0, 1, 2])
        }
        try sender.join()
    }

    @Test func `after the port's end a right gives its message back, and an unused right sends nothing`()
        throws
    {
        let alive = Shared()
        let port = Port<Counted>()
        let used = port.makeSendOnceRight(ifUnused: Counted(alive))
        let unused = port.makeSendOnceRight(ifUnused: Counted(alive))
        #expect(alive.count == 2)
        port.invalidate()
        do {
            try used.send(Counted(alive))
            Issue.record("the port has ended")
        } catch {
            #expect(error.reason == .invalid)
            #expect(error.messages.count == 1)
        }
        _ = consume unused
        #expect(alive.count == 0)
        #expect(port.sendOnceRightCount == 0)
    }

    @Test func `messages that are queued at the port's end are destroyed, once`() throws {
        let alive = Shared()
        let port = Port<Counted>(queueLimit: 1)
        for _ in 0..<20 { try port.makeSendOnceRight(ifUnused: Counted(alive)).send(Counted(alive)) }
        for _ in 0..<20 { _ = port.makeSendOnceRight(ifUnused: Counted(alive)) }
        #expect(alive.count == 40)
        port.invalidate()
        #expect(alive.count == 0)
    }

    @Test func `messages that were taken in and not yet delivered are destroyed, too`() throws {
        try onLoopThread { loop in
            let alive = Shared()
            let port = Port<Counted>()
            loop.add(port, forMode: .default) { [weak port] _ in port?.invalidate() }
            for _ in 0..<10 { try port.makeSendOnceRight(ifUnused: Counted(alive)).send(Counted(alive)) }
            loop.pass()
            #expect(alive.count == 0)
        }
    }

    @Test func `using a right wakes the receiver, and so does destroying it`() throws {
        for isUsed in [true, false] {
            let port = Port<Bool>()
            let receiver = try RunLoopThread(name: "receiver")
            let received = Gate()
            receiver.runLoop.perform {
                RunLoop.current.add(port, forMode: .common) { value in
                    #expect(value == isUsed)
                    received.open()
                }
            }
            try receiver.runLoop.performAndWait {}
            waitUntilAsleep(receiver.runLoop)
            let right = port.makeSendOnceRight(ifUnused: false)
            if isUsed { try right.send(true) } else { _ = consume right }
            #expect(received.wait())
            receiver.stop()
            receiver.join()
        }
    }

    @Test func `a signal is sent by using the right and by destroying it`() throws {
        try onLoopThread { loop in
            let port = Port<Void>()
            var calls = 0
            loop.add(port, forMode: .default) { calls += 1 }
            try port.makeSendOnceRight().send()
            loop.settle()
            #expect(calls == 1)
            _ = port.makeSendOnceRight()
            loop.settle()
            #expect(calls == 2)
            let late = port.makeSendOnceRight()
            port.invalidate()
            do { try late.send() } catch let error as PortSendError<Void> {
                #expect(error.reason == .invalid)
            }
            #expect(port.sendOnceRightCount == 0)
        }
    }

    @Test func `a run inside a handler delivers messages beyond the limit, too`() throws {
        try onLoopThread { loop in
            let port = Port<Int>(queueLimit: 1)
            var received: [Int] = []
            loop.add(port, forMode: .default) { number in
                received.append(number)
                if number == 1 { loop.settle() }
            }
            for number in 1...4 { try port.makeSendOnceRight(ifUnused: 0).send(number) }
            loop.settle()
            #expect(received == [1, 2, 3, 4])
        }
    }
}
