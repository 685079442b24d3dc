import TestExpectations
import TestSupport
import Testing

@testable import RunLoops

/// A port's handler is allowed to run its loop, and to change or end the port.
@Suite struct PortNestingTests {
    @Test func `a run inside a handler delivers the next messages there, in order`() throws {
        try onLoopThread { loop in
            let port = Port<Int>()
            let log = Log<String>()
            loop.add(port, forMode: .default) { number in
                log.add("begin \(number)")
                if number == 1 || number == 2 { loop.run(mode: .default, before: .now + .seconds(10)) }
                log.add("end \(number)")
            }
            try port.send(contentsOf: [1, 2, 3, 4])
            loop.pass()
            // The innermost run serves all messages, because each run finishes its pass.
            #expect(
                log.entries == [
                    "begin 1", "begin 2", "begin 3", "end 3", "begin 4", "end 4", "end 2", "end 1",
                ])
        }
    }

    @Test func `a message from inside a handler is delivered by a run inside it`() throws {
        try onLoopThread { loop in
            let port = Port<Int>()
            var received: [Int] = []
            loop.add(port, forMode: .default) { number in
                received.append(number)
                guard number < 5 else { return }
                do { try port.send(number + 1) } catch { Issue.record(error) }
                #expect(
                    loop.run(in: .default, until: .distantPast, returnAfterSourceHandled: true)
                        == .handledSource)
                #expect(received.last == 5)
            }
            try port.send(1)
            loop.pass()
            #expect(received == [1, 2, 3, 4, 5])
        }
    }

    @Test func `a run inside a handler delivers nothing in a mode that the port is not in`() throws {
        try onLoopThread { loop in
            let port = Port<Int>()
            let modal = RunLoop.Mode("modal")
            loop.add(Port<Int>(), forMode: modal) { _ in }
            var received: [Int] = []
            loop.add(port, forMode: .default) { number in
                received.append(number)
                if number == 1 {
                    loop.pass(in: modal)
                    #expect(received == [1])
                }
            }
            try port.send(contentsOf: [1, 2])
            loop.pass()
            #expect(received == [1, 2])
            try port.send(3)
            loop.pass()
            #expect(received == [1, 2, 3])
        }
    }

    @Test func `a run inside a handler takes the handler of its own mode`() throws {
        try onLoopThread { loop in
            let port = Port<Int>()
            let modal = RunLoop.Mode("modal")
            var received: [String] = []
            loop.add(port, forMode: .default) { number in
                received.append("default \(number)")
                if number == 1 { loop.run(mode: modal, before: .now + .seconds(10)) }
            }
            loop.add(port, forMode: modal) { received.append("modal \($0)") }
            try port.send(contentsOf: [1, 2])
            loop.pass()
            try port.send(3)
            loop.pass()
            #expect(received == ["default 1", "modal 2", "default 3"])
        }
    }

    @Test
    func `between a message and its announcement, a run inside a handler does not announce the next again`()
        throws
    {
        try onLoopThread { loop in
            // A sender queues its message first, and then signals the loop. This sender stops in between, while the handler's runs
            // empty the port. The port's node must not be signalled twice.
            let port = Port<Int>()
            var announcement: Node?
            var received: [Int] = []
            loop.add(port, forMode: .default) { number in
                received.append(number)
                guard number == 1 else { return }
                loop.pass()
                announcement = queue(2, on: port)
                #expect(announcement != nil, "the port is armed")
                loop.pass()
                #expect(queue(3, on: port) == nil)
            }
            try port.send(1)
            loop.pass()
            #expect(queue(4, on: port) == nil)
            ReadyNode.send(try #require(announcement))
            loop.pass()
            loop.pass()
            #expect(received == [1, 2, 3, 4])
            try port.send(5)
            loop.pass()
            #expect(received.last == 5)
        }
    }

    @Test
    func `between a ring and its announcement, a run inside a handler does not announce the next again`()
        throws
    {
        try onLoopThread { loop in
            let port = Port<Void>()
            var announcement: Node?
            var calls = 0
            loop.add(port, forMode: .default) {
                calls += 1
                guard calls == 1 else { return }
                announcement = port.core.bell.ring()
                #expect(announcement != nil, "the bell is armed")
                loop.pass()
                #expect(port.core.bell.ring() == nil)
            }
            try port.send()
            loop.pass()
            ReadyNode.send(try #require(announcement))
            loop.pass()
            #expect(calls == 2)
            try port.send()
            loop.pass()
            #expect(calls == 3)
        }
    }

    @Test func `once a port was removed in its handler, no handler starts, and the rest waits`() throws {
        try onLoopThread { loop in
            let port = Port<Int>()
            var received: [Int] = []
            func deliver(_ number: Int) {
                received.append(number)
                if number == 2 { loop.remove(port, forMode: .default) }
            }
            loop.add(port, forMode: .default, handler: deliver)
            try port.send(contentsOf: [1, 2, 3, 4])
            #expect(loop.run(in: .default) == .finished)
            #expect(received == [1, 2])
            loop.add(port, forMode: .default, handler: deliver)
            loop.pass()
            #expect(received == [1, 2, 3, 4])
        }
    }

    @Test func `a port that is removed and added in its handler goes on with the new handler`() throws {
        try onLoopThread { loop in
            let port = Port<Int>()
            var received: [String] = []
            loop.add(port, forMode: .default) { number in
                received.append("first \(number)")
                loop.remove(port, forMode: .default)
                loop.add(port, forMode: .default) { received.append("second \($0)") }
            }
            try port.send(contentsOf: [1, 2, 3])
            loop.pass()
            loop.pass()
            #expect(received == ["first 1", "second 2", "second 3"])
        }
    }

    @Test func `once a port was invalidated in its handler, no handler starts, and the rest is destroyed`()
        throws
    {
        let alive = Shared()
        try onLoopThread { loop in
            let port = Port<Counted>()
            var calls = 0
            loop.add(port, forMode: .default) { _ in
                calls += 1
                port.invalidate()
                #expect(alive.count == 1, "the one that was delivered")
            }
            for _ in 0..<3 { try port.send(Counted(alive)) }
            #expect(loop.run(in: .default) == .finished)
            #expect(calls == 1)
            #expect(alive.count == 0)
        }
    }

    @Test func `a port may be removed by another port's handler in the pass that would serve it`() throws {
        try onLoopThread { loop in
            let first = Port<Int>()
            let second = Port<Int>()
            loop.add(first, forMode: .default) { _ in loop.remove(second, forMode: .default) }
            loop.add(second, forMode: .default) { _ in Issue.record("it was removed") }
            try first.send(1)
            try second.send(2)
            loop.pass()
            var received: [Int] = []
            loop.add(second, forMode: .default) { received.append($0) }
            loop.pass()
            #expect(received == [2])
        }
    }

    /// Queues a message, and returns the node with which the sender would signal the loop.
    private func queue(_ number: Int, on port: Port<Int>) -> Node? {
        let node = Node.make()
        node.store(number)
        guard case .queuedToArmed(let signal) = port.core.queue.mailbox.push(Mailbox.Chain(node)) else {
            return nil
        }
        return signal
    }
}
