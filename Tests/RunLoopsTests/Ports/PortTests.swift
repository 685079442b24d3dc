import TestExpectations
import TestSupport
import Testing

@testable import RunLoops

/// A port delivers every accepted message once, in each sender's order, on the receiver's thread.
@Suite struct PortTests {
    // Guarantees: The messages of one thread arrive in the order in which it sent them, whichever rights it uses.
    @Test func `messages arrive in the order in which they were sent, on the loop's thread`() throws {
        try onLoopThread { loop in
            let port = Port<Int>()
            var received: [Int] = []
            loop.add(port, forMode: .default) { number in
                #expect(loop.isCurrent)
                received.append(number)
                if number == 4_999 { loop.stop() }
            }
            let sender = try Threads(1) { _ in for number in 0..<5_000 { try port.send(number) } }
            #expect(loop.run(in: .default) == .stopped)
            try sender.join()
            #expect(received == Array(0..<5_000))
        }
    }

    // Guarantees: The order of blocks of one thread, of messages of one sender to one port, and of timers.
    @Test func `of several senders, each one's order is kept`() throws {
        try onLoopThread { loop in
            let port = Port<(sender: Int, number: Int)>(queueLimit: 16)
            var received = [[Int]](repeating: [], count: 4)
            loop.add(port, forMode: .default) { message in
                received[message.sender].append(message.number)
                if received.allSatisfy({ $0.count == 1_000 }) { loop.stop() }
            }
            let senders = try Threads(4) { sender in
                for number in 0..<1_000 { try port.send((sender, number)) }
            }
            loop.run(in: .default)
            try senders.join()
            for numbers in received { #expect(numbers == Array(0..<1_000)) }
        }
    }

    @Test func `messages from before the port was added are delivered`() throws {
        try onLoopThread { loop in
            let port = Port<String>()
            try port.send("first")
            try port.send("second")
            var received: [String] = []
            loop.add(port, forMode: .default) { received.append($0) }
            loop.settle()
            #expect(received == ["first", "second"])
        }
    }

    @Test func `a message to a sleeping loop wakes it`() throws {
        let port = Port<Int>()
        let thread = try RunLoopThread(name: "receiver")
        let received = Gate()
        thread.runLoop.perform { RunLoop.current.add(port, forMode: .default) { _ in received.open() } }
        waitUntilAsleep(thread.runLoop)
        try port.send(1)
        #expect(received.wait())
        thread.stop()
        thread.join()
    }

    @Test func `messages wait while their loop does not run, or runs in another mode`() throws {
        try onLoopThread { loop in
            let port = Port<Int>()
            let other = RunLoop.Mode("other")
            var received: [Int] = []
            loop.add(port, forMode: .default) { received.append($0) }
            loop.add(Port<Int>(), forMode: other) { _ in }
            try port.send(1)
            loop.pass(in: other)
            try port.send(2)
            loop.pass(in: other)
            #expect(received == [])
            loop.settle()
            #expect(received == [1, 2])
        }
    }

    @Test func `messages survive the port's removal, and follow it into another loop`() throws {
        let port = Port<Int>()
        try onLoopThread { loop in
            var received: [Int] = []
            loop.add(port, forMode: .default) { number in
                received.append(number)
                // The loop has already received the second message.
                loop.remove(port, forMode: .default)
            }
            try port.send(1)
            try port.send(2)
            loop.pass()
            try port.send(3)
            #expect(loop.run(in: .default) == .finished)
            #expect(received == [1])
        }
        try onLoopThread { loop in
            var received: [Int] = []
            loop.add(port, forMode: .default) { received.append($0) }
            loop.settle()
            #expect(received == [2, 3])
        }
    }

    @Test func `messages survive the end of their loop`() throws {
        let port = Port<Int>()
        let thread = try RunLoopThread(name: "first")
        try thread.runLoop.performAndWait {
            RunLoop.current.add(port, forMode: RunLoop.Mode("other")) { _ in Issue.record("no such mode ran")
            }
        }
        try port.send(1)
        thread.stop()
        thread.join()
        try onLoopThread { loop in
            var received: [Int] = []
            loop.add(port, forMode: .default) { received.append($0) }
            loop.pass()
            #expect(received == [1])
        }
    }

    @Test func `each mode has its own handler, and the common ones share theirs`() throws {
        try onLoopThread { loop in
            let port = Port<Int>()
            let (tracking, modal) = (RunLoop.Mode("tracking"), RunLoop.Mode("modal"))
            var received: [String] = []
            loop.add(port, forMode: .common) { received.append("common \($0)") }
            loop.add(port, forMode: modal) { received.append("modal \($0)") }
            for (number, mode) in [modal, .default, tracking].enumerated() {
                try port.send(number)
                loop.pass(in: mode)
            }
            #expect(received == ["modal 0", "common 1"])
            loop.addCommonMode(tracking)
            loop.pass(in: tracking)
            #expect(received == ["modal 0", "common 1", "common 2"])
        }
    }

    @Test func `adding a port twice is adding it once`() throws {
        try onLoopThread { loop in
            let port = Port<Int>()
            var received: [String] = []
            loop.add(port, forMode: .default) { received.append("first \($0)") }
            loop.add(port, forMode: .default) { received.append("second \($0)") }
            try port.send(1)
            loop.pass()
            #expect(received == ["first 1"])
            loop.remove(port, forMode: .default)
            #expect(loop.run(in: .default) == .finished)
            loop.add(port, forMode: .default) { received.append("third \($0)") }
            try port.send(2)
            loop.pass()
            #expect(received == ["first 1", "third 2"])
        }
    }

    @Test func `a port keeps the modes that it is in alive, and no others`() throws {
        try onLoopThread { loop in
            let port = Port<Int>()
            let other = RunLoop.Mode("other")
            #expect(loop.run(in: .default, until: .distantPast) == .finished)
            loop.add(port, forMode: .default) { _ in }
            #expect(loop.run(in: .default, until: .distantPast) == .timedOut)
            #expect(loop.run(in: other, until: .distantPast) == .finished)
            loop.add(port, forMode: other) { _ in }
            loop.remove(port, forMode: .default)
            #expect(loop.run(in: .default, until: .distantPast) == .finished)
            #expect(loop.run(in: other, until: .distantPast) == .timedOut)
        }
    }

    @Test func `a delivery is a source that was handled`() throws {
        try onLoopThread { loop in
            let port = Port<Int>()
            loop.add(port, forMode: .default) { _ in }
            try port.send(1)
            #expect(loop.run(in: .default, returnAfterSourceHandled: true) == .handledSource)
        }
    }

    @Test func `a flooded port does not keep another one waiting`() throws {
        try onLoopThread { loop in
            let flooded = Port<Int>(queueLimit: .unlimited)
            let other = Port<Int>()
            var served = 0
            var servedBefore: Int?
            loop.add(flooded, forMode: .default) { _ in served += 1 }
            loop.add(other, forMode: .default) { _ in servedBefore = served }
            try flooded.send(contentsOf: 0..<10_000)
            try other.send(0)
            while served < 10_000 { loop.pass() }
            // A pass serves 128 messages at most.
            #expect(try #require(servedBefore) <= 256)
        }
    }

    @Test func `a port whose handler sends to it again starves nothing else`() throws {
        try onLoopThread { loop in
            let port = Port<Int>()
            loop.add(port, forMode: .default) { number in
                do { try port.send(number + 1) } catch { Issue.record(error) }
            }
            try port.send(0)
            loop.add(
                Timer(timeInterval: .milliseconds(1), repeats: false) { _ in loop.stop() }, forMode: .default)
            #expect(loop.run(in: .default, until: .now + .seconds(30)) == .stopped)
        }
    }

    @Test func `a port in one loop cannot be added to another`() async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let port = Port<Int>()
            let thread = try RunLoopThread(name: "first")
            try await thread.runLoop.performAndWait {
                RunLoop.current.add(port, forMode: .default) { _ in }
            }
            try onLoopThread { $0.add(port, forMode: .default) { _ in } }
        }
        #expect(try #require(result).message.contains("is in another loop; remove it there first"))
    }

    @Test func `a port is added on its loop's own thread`() async throws {
        let adding = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            try RunLoopThread(name: "first").runLoop.add(Port<Int>(), forMode: .default) { _ in }
        }
        #expect(try #require(adding).message.contains("perform a block on the loop and add the port there"))
    }
}
