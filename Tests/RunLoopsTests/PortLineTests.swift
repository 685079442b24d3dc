import Synchronization
import TestSupport
import Testing

@testable import RunLoops

/// The line of senders at a full port: who leaves it makes room for those behind, and nobody sleeps in it beside room.
@Suite struct PortLineTests {
    /// Sends several messages, all or none.
    private static func send(
        _ numbers: Range<Int>, to port: Port<Int>, before deadline: ContinuousClock.Instant? = nil
    ) -> PortCore.Refusal? {
        var numbers = (count: numbers.count, rest: numbers.makeIterator())
        var newest: Node?
        while let node = Node.packing(&numbers.rest) {
            node.next = newest
            newest = node
        }
        let refusal = port.core.send(newest, numbers.count, before: deadline)
        if refusal != nil { _ = PortCore.takeBack(newest) as [Int] }
        return refusal
    }

    /// What is in a port's queue.
    private func drain(_ port: Port<Int>) throws -> [Int] {
        try onLoopThread { loop in
            var received: [Int] = []
            loop.add(port, forMode: .default) { received.append($0) }
            loop.settle()
            return received
        }
    }

    @Test func `who waits behind a batch that gives up has the room that it left`()
        throws
    {
        let port = Port<Int>(queueLimit: 4)
        try port.send(contentsOf: 0..<3)
        let batch = try Threads(1) { _ in
            #expect(Self.send(10..<13, to: port, before: .now + .milliseconds(500)) == .timedOut)
        }
        waitUntilSendersWait(1, at: port)
        let single = try Threads(1) { _ in try port.send(3) }
        try batch.join()
        try single.join(seconds: 20)
        #expect(try drain(port) == [0, 1, 2, 3])
    }

    @Test func `who waits behind a batch that is refused for a circle has its room`() throws {
        let port = Port<Int>(queueLimit: 4)
        try port.send(contentsOf: 0..<3)
        let receiver = try RunLoopThread(name: "receiver")
        let sender = try RunLoopThread(name: "sender")
        try receiver.runLoop.performAndWait {
            RunLoop.current.add(port, forMode: .init("never")) { _ in }
        }
        let log = Log<PortCore.Refusal?>()
        sender.runLoop.perform { log.add(Self.send(10..<13, to: port)) }
        waitUntilSendersWait(1, at: port)
        let single = try Threads(1) { _ in try port.send(3) }
        waitUntilSendersWait(2, at: port)
        try receiver.runLoop.performAndWait {
            // The receiver begins to wait for the sender, and cannot be refused.
            let target = sender.runLoop.holding
            let wait = ThreadWait(in: "test", fileID: #fileID, line: #line) { [target] }
            #expect(wait.beginAnyhow() == nil)
            wait.end()
        }
        try single.join(seconds: 20)
        try sender.runLoop.performAndWait {}
        #expect(log.entries == [.wouldDeadlock])
        try receiver.runLoop.performAndWait { RunLoop.current.remove(port, forMode: .init("never")) }
        #expect(try drain(port) == [0, 1, 2, 3])
        receiver.stop()
        sender.stop()
    }

    // MARK: - A sender that the receiver has not seen

    /// Puts a sender into the line as one whose count the receiver has read too early: nobody tells it of the room there is.
    private static func putInLine(_ number: Int, at port: Port<Int>, _ log: Log<Int>) {
        let node = PortCore.makeNode()
        node.store(number)
        let sender = WaitingSenders.Sender(Mailbox.Chain(node)) { outcome in
            switch outcome {
            case .sent: log.add(number)
            case .closed, .refused: Issue.record("there is room")
            }
        }
        port.core.waitingSenders.withLock { waiting in
            waiting.append(sender)
            port.core.waitingCount.store(waiting.count, ordering: .sequentiallyConsistent)
        }
    }

    @Test func `a sender that was missed has its room when a turn ends with messages left`()
        throws
    {
        try onLoopThread { loop in
            let port = Port<Int>(queueLimit: 3)
            let log = Log<Int>()
            var received: [Int] = []
            loop.add(port, forMode: .default) { number in
                received.append(number)
                // No time is left for the third one.
                let end = ContinuousClock.now + .milliseconds(1)
                while ContinuousClock.now < end {}
                if number == 1 { Self.putInLine(3, at: port, log) }
            }
            try port.send(contentsOf: 0..<3)
            loop.pass()
            #expect(received == [0, 1])
            #expect(log.entries == [3])
            loop.settle()
            #expect(received == [0, 1, 2, 3])
        }
    }

    @Test
    func `a sender that was missed has its room when its port leaves the loop with messages`()
        throws
    {
        try onLoopThread { loop in
            let port = Port<Int>(queueLimit: 3)
            let log = Log<Int>()
            loop.add(port, forMode: .default) { number in
                Self.putInLine(3, at: port, log)
                loop.remove(port, forMode: .default)
                #expect(log.entries == [3])
            }
            try port.send(contentsOf: 0..<3)
            loop.pass()
            #expect(log.entries == [3])
            var received: [Int] = []
            loop.add(port, forMode: .default) { received.append($0) }
            loop.settle()
            #expect(received == [1, 2, 3])
        }
    }

    @Test
    func `a sender that was missed has its room when its port leaves the set with messages`()
        throws
    {
        let port = Port<Int>(queueLimit: 3)
        let log = Log<Int>()
        let set = PortSet<Int>()
        set.add(port)
        try port.send(contentsOf: 0..<3)
        #expect(try set.receive() == 0)
        Self.putInLine(3, at: port, log)
        set.remove(port)
        #expect(log.entries == [3])
        #expect(try drain(port) == [1, 2, 3])
    }

    #if DEBUG
        @Test(arguments: [true, false])
        func `a sender that meets the port's end in the middle of its only try hears of the end`(
            isReceiver: Bool
        ) throws {
            try onLoopThread { loop in
                let port = Port<Int>(queueLimit: 1)
                if isReceiver { loop.add(port, forMode: .default) { _ in } }
                try port.send(0)
                let ending = Ending(of: port)
                let error = #expect(throws: PortSendError<Int>.self) {
                    try ending.watch {
                        if isReceiver { try port.send(1) } else { try port.send(1, before: .distantPast) }
                    }
                }
                #expect(error?.reason == .invalid)
                try ending.closing?.join()
            }
        }

        /// Ends a port on another thread when this one has put its sender into the line, under the lock that guards the line.
        private final class Ending: StepWatcher, @unchecked Sendable {
            private let port: Port<Int>
            var closing: Threads?

            init(of port: Port<Int>) { self.port = port }

            override func threadIs(at step: Step) {
                if step != .waitingStores || closing != nil { return }
                pause {
                    do { closing = try Threads(1) { [port] _ in port.invalidate() } } catch {
                        Issue.record(error)
                    }
                    // It goes on when it can have the lock.
                    waitUntil("its queue is closed") { port.core.mailbox.current.isClosed }
                }
            }
        }
    #endif
}
