import TestExpectations
import TestSupport
import Testing

@testable import RunLoops

/// A right sends to its port like the port itself, but is counted and does not keep the port alive.
@Suite struct SendRightTests {
    // Guarantees: The messages of one thread arrive in the order in which it sent them, whichever rights it uses.
    @Test func `messages sent through a right and through the port arrive in order`() throws {
        try onLoopThread { loop in
            let port = Port<Int>()
            let right = port.makeSendRight()
            var received: [Int] = []
            loop.add(port, forMode: .default) { received.append($0) }
            try port.send(1)
            try right.send(2)
            try port.send(3)
            try right.send(4, before: .distantPast)
            try right.send(contentsOf: [5, 6, 7])
            loop.settle()
            #expect(received == Array(1...7))
        }
    }

    @Test func `a full port refuses a right as it refuses others, and gives the messages back`() throws {
        try onLoopThread { loop in
            let port = Port<Int>(queueLimit: 2)
            let right = port.makeSendRight()
            loop.add(port, forMode: .default) { _ in }
            let several = #expect(throws: PortSendError<Int>.self) {
                try right.send(contentsOf: [1, 2, 3], before: .distantPast)
            }
            #expect(several?.reason == .timedOut)
            #expect(several?.messages == [3])
            let late = #expect(throws: PortSendError<Int>.self) { try right.send(4, before: .distantPast) }
            #expect(late?.reason == .timedOut)
            let own = #expect(throws: PortSendError<Int>.self) { try right.send(5) }
            #expect(own?.reason == .wouldDeadlock)
            #expect(own?.messages == [5])
        }
    }

    @Test func `a right does not keep its port alive, and sending to a port that no longer exists throws`()
        throws
    {
        var port: Port<String>? = Port()
        weak let known = port
        let right = try #require(port).makeSendRight()
        let once = try #require(port).makeSendOnceRight(ifUnused: "unused")
        #expect(right.isValid)
        port = nil
        #expect(known == nil)
        #expect(!right.isValid)
        let isValid = once.isValid
        #expect(!isValid)
        let error = #expect(throws: PortSendError<String>.self) { try right.send("hello") }
        #expect(error?.reason == .invalid)
        #expect(error?.messages == ["hello"])
    }

    @Test func `copies are one right, which is released with the last of them`() {
        let port = Port<Int>()
        var rights: [SendRight<Int>] = []
        rights.append(port.makeSendRight())
        for _ in 0..<9 { rights.append(rights[0]) }
        #expect(port.sendRightCount == 1)
        rights.append(port.makeSendRight())
        #expect(port.sendRightCount == 2)
        #expect(Set(rights).count == 1)
        #expect(rights[0] != Port<Int>().makeSendRight())
        rights.removeFirst(9)
        #expect(port.sendRightCount == 2)
        rights.removeFirst()
        #expect(port.sendRightCount == 1)
        rights.removeAll()
        #expect(port.sendRightCount == 0)
    }

    @Test func `rights to an ended port are counted, and cannot send`() throws {
        let port = Port<Int>()
        let before = port.makeSendRight()
        port.invalidate()
        let after = port.makeSendRight()
        #expect(port.sendRightCount == 2)
        #expect(!before.isValid)
        #expect(!after.isValid)
        #expect(throws: PortSendError<Int>.self) { try after.send(1) }
    }

    @Test func `signals through a right merge with the port's`() throws {
        try onLoopThread { loop in
            let port = Port<Void>()
            let right = port.makeSendRight()
            var calls = 0
            loop.add(port, forMode: .default) { calls += 1 }
            for _ in 0..<10 {
                try right.send()
                try port.send()
            }
            try right.send((), before: .distantPast)
            try right.send(contentsOf: [(), ()])
            loop.settle()
            #expect(calls == 1)
        }
    }

    @Test func `a right that waits at a full port is there until its message is queued`() throws {
        let port = Port<String>(queueLimit: 1)
        try port.send("first")
        let sender = try Threads(1) { _ in try port.makeSendRight().send("last") }
        waitUntilSendersWait(1, at: port)
        #expect(port.sendRightCount == 1)
        try onLoopThread { loop in
            var log: [String] = []
            loop.add(port, forMode: .default) { log.append($0) }
            port.onNoSenders { _ in
                log.append("no senders")
                loop.stop()
            }
            #expect(loop.run(in: .default, until: .hang) == .stopped)
            #expect(log == ["first", "last", "no senders"])
        }
        try sender.join()
    }
}
