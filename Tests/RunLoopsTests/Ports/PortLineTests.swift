import Synchronization
import TestExpectations
import TestSupport
import Testing

@testable import RunLoops

/// The line of senders at a full port.
///
/// A sender that leaves the line makes room for those behind it, and no sender sleeps in the line while there is room.
@Suite struct PortLineTests {
    /// Sends all of several messages, or none.
    private static func send(
        _ numbers: Range<Int>, to port: Port<Int>, before deadline: ContinuousClock.Instant? = nil
    ) -> PortCore.Refusal? {
        var rest = numbers.makeIterator()
        var room = numbers.count
        var newest: Node?
        while let node = Node.packing(&rest, within: &room) {
            node.next = newest
            newest = node
        }
        let refusal = port.core.send(newest, numbers.count, before: deadline)
        if refusal != nil { _ = PortCore.takeBack(newest) as [Int] }
        return refusal
    }

    /// Removes all messages from a port's queue, and returns them.
    private func drain(_ port: Port<Int>) throws -> [Int] {
        try onLoopThread { loop in
            var received: [Int] = []
            loop.add(port, forMode: .default) { received.append($0) }
            loop.settle()
            return received
        }
    }

    @Test func `a sender behind a batch that gives up gets the room that the batch leaves`()
        throws
    {
        let port = Port<Int>(queueLimit: 4)
        try port.send(contentsOf: 0..<3)
        let isOver = Shared()
        let batch = try Threads(1) { _ in
            #expect(Self.send(10..<13, to: port, before: .now + .milliseconds(500)) == .timedOut)
            isOver.increment()
        }
        // On a busy machine the batch can already have given up.
        waitUntil("the batch waits, or has") {
            port.core.queue.waitingCount.load(ordering: .acquiring) == 1 || isOver.count == 1
        }
        let single = try Threads(1) { _ in try port.send(3) }
        try batch.join()
        try single.join()
        #expect(try drain(port) == [0, 1, 2, 3])
    }

    @Test func `a sender behind a batch that would deadlock gets the free room when the batch is refused`()
        throws
    {
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
        waitUntil("the batch can be refused") {
            ThreadWait.graph.withLock { $0.holdsWait(of: port.core.origin) }
        }
        let single = try Threads(1) { _ in try port.send(3) }
        waitUntilSendersWait(2, at: port)
        try receiver.runLoop.performAndWait {
            // The receiver waits for the sender in a way that cannot be refused.
            let target = sender.runLoop.waitTarget
            let wait = ThreadWait(in: "test", fileID: #fileID, line: #line) { [target] }
            #expect(wait.beginOrBreakCircle() == nil)
            wait.end()
        }
        try single.join()
        try sender.runLoop.performAndWait {}
        #expect(log.entries == [.wouldDeadlock])
        try receiver.runLoop.performAndWait { RunLoop.current.remove(port, forMode: .init("never")) }
        #expect(try drain(port) == [0, 1, 2, 3])
        receiver.stop()
        sender.stop()
    }

    #if DEBUG
        @Test(arguments: [true, false])
        func `a sender that tries only once fails as invalid if the port ends during the try`(
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

        /// On another thread, ends a port as soon as this thread has put its sender into the line and still holds the line's lock.
        private final class Ending: RacePointWatcher, @unchecked Sendable {
            private let port: Port<Int>
            var closing: Threads?

            init(of port: Port<Int>) { self.port = port }

            override func threadIs(at point: RacePoint) {
                if point != .waitingStores || closing != nil { return }
                pause {
                    do { closing = try Threads(1) { [port] _ in port.invalidate() } } catch {
                        Issue.record(error)
                    }
                    // The other thread continues when it acquires the lock.
                    waitUntil("its queue is closed") { port.core.queue.mailbox.current.isClosed }
                }
            }
        }
    #endif
}
