import TestExpectations
import TestSupport
import Testing

@testable import RunLoops

/// Senders that wait for room in a port whose receiver waits for them.
@Suite struct PortCircleTests {
    @Test func `a sender whose receiver waits for it is refused, and keeps its message`() throws {
        let sender = try RunLoopThread(name: "sender")
        try onLoopThread { loop in
            let port = Port<Int>(queueLimit: 1)
            loop.add(port, forMode: .default) { _ in }
            try port.send(0)
            let error = try sender.runLoop.performAndWait {
                #expect(throws: PortSendError<Int>.self) { try port.send(1) }
            }
            #expect(error?.reason == .wouldDeadlock)
            #expect(error?.messages == [1])
            // The sender has already left the line.
            loop.settle()
            try port.send(2)
            try sender.runLoop.performAndWait {
                let error = #expect(throws: PortSendError<Int>.self) {
                    try port.send(3, before: .distantPast)
                }
                #expect(error?.reason == .timedOut)
            }
        }
        sender.stop()
    }

    @Test func `a receiver that would wait for its own sender is refused, and serves it then`() throws {
        let sender = try RunLoopThread(name: "sender")
        try onLoopThread { loop in
            let port = Port<Int>(queueLimit: 1)
            let received = Log<Int>()
            loop.add(port, forMode: .default) { number in
                received.add(number)
                if number == 1 { loop.stop() }
            }
            try port.send(0)
            sender.runLoop.perform {
                do { try port.send(1) } catch { Issue.record(error) }
            }
            waitUntilSenderIsInGraph(port)
            let circle = refusal { try sender.runLoop.performAndWait {} }
            #expect(circle?.waits.map(\.operation) == ["RunLoop.performAndWait", "Port.send"])
            // The second place in the source is that of the port.
            #expect(circle?.waits.map(\.fileID) == [#fileID, #fileID])
            #expect(circle.map { $0.waits[1].line < $0.waits[0].line } == true)
            loop.run(until: .hang)
            #expect(received.entries == [0, 1])
        }
        sender.stop()
    }

    @Test func `the circle goes through the loop that has the port now`() throws {
        let (sender, heir) = (try RunLoopThread(name: "sender"), try RunLoopThread(name: "heir"))
        try onLoopThread { loop in
            let port = Port<Int>(queueLimit: 1)
            loop.add(port, forMode: .default) { _ in }
            try port.send(0)
            sender.runLoop.perform { do { try port.send(1) } catch { Issue.record(error) } }
            waitUntilSenderIsInGraph(port)
            loop.remove(port, forMode: .default)
            // No thread receives from the port. The wait can be long, but it is in no circle.
            #expect(refusal { try sender.runLoop.performAndWait(before: .now + .milliseconds(1)) {} } == nil)
            try heir.runLoop.performAndWait {
                RunLoop.current.add(port, forMode: .init("never run")) { _ in }
                #expect(refusal { try sender.runLoop.performAndWait {} }?.waits.count == 2)
                RunLoop.current.add(port, forMode: .default) { _ in }
            }
            try sender.runLoop.performAndWait {}
        }
        sender.stop()
        heir.stop()
    }

    @Test func `two receivers that send to each other's full port do not hang`() throws {
        let (one, two) = (try RunLoopThread(name: "one"), try RunLoopThread(name: "two"))
        let ports = [Port<Int>(queueLimit: 1), Port<Int>(queueLimit: 1)]
        let threads = [one, two]
        for round in 0..<200 {
            let refusals = Shared()
            let arrived = Shared()
            let done = [Gate(), Gate()]
            for (number, thread) in threads.enumerated() {
                if round == 0 {
                    try thread.runLoop.performAndWait {
                        RunLoop.current.add(ports[number], forMode: .default) { _ in }
                    }
                }
                thread.runLoop.perform {
                    arrived.increment()
                    waitUntil("both are in their blocks") { arrived.count == 2 }
                    // The second message finds the port full, because the port's receiver is inside its block.
                    do throws(PortSendError<Int>) { try ports[1 - number].send(contentsOf: [1, 2]) } catch {
                        #expect(error.reason == .wouldDeadlock)
                        refusals.increment()
                    }
                    done[number].open()
                }
            }
            for gate in done { #expect(gate.wait()) }
            #expect(refusals.count == 1)
            for thread in threads {
                try thread.runLoop.performAndWait { RunLoop.current.settle() }
            }
        }
        one.stop()
        two.stop()
    }
}

/// Returns the circle because of which a call fails, or nil if the call does not fail.
func refusal(_ body: () throws -> Void) -> WaitCircle? {
    do { try body() } catch { return (error as? PerformError)?.circle }
    return nil
}

/// Waits until a sender's wait at a port is in the graph of waits.
///
/// The sender joins the line before.
func waitUntilSenderIsInGraph<Message>(_ port: Port<Message>) {
    waitUntil("the sender's wait is entered") {
        ThreadWait.graph.withLock { $0.holdsWait(of: port.core.origin) }
    }
}
