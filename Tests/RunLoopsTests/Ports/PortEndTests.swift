import TestExpectations
import TestSupport
import Testing

@testable import RunLoops

/// The end of a port: queued messages are destroyed once, outside of locks, and sends throw.
@Suite struct PortEndTests {
    @Test func `an ended port destroys what is queued, once`() throws {
        let alive = Shared()
        let port = Port<Counted>()
        for _ in 0..<200 { try port.send(Counted(alive)) }
        #expect(alive.count == 200)
        port.invalidate()
        #expect(alive.count == 0)
        port.invalidate()
        #expect(alive.count == 0)
    }

    @Test func `the last reference destroys what is queued`() throws {
        let alive = Shared()
        var port: Port<Counted>? = Port()
        for _ in 0..<200 { try port?.send(Counted(alive)) }
        port = nil
        #expect(alive.count == 0)
    }

    @Test func `messages that were taken in and not yet delivered are destroyed, too`() throws {
        let alive = Shared()
        try onLoopThread { loop in
            var port: Port<Counted>? = Port()
            weak let known = port
            loop.add(try #require(port), forMode: .default) { _ in
                if let known { loop.remove(known, forMode: .default) }
            }
            for _ in 0..<200 { try port?.send(Counted(alive)) }
            loop.run(in: .default)
            #expect(alive.count == 199)
            port = nil
            #expect(alive.count == 0)
        }
    }

    @Test func `a loop keeps its ports, and releases them and their handlers`() throws {
        try onLoopThread { loop in
            let alive = Shared()
            weak var known: Port<Int>?
            func addPort(_ mode: RunLoop.Mode) {
                let port = Port<Int>()
                let captured = Counted(alive)
                loop.add(port, forMode: mode) { _ in _ = captured }
                known = port
            }
            addPort(.default)
            #expect(known != nil)
            #expect(alive.count == 1)
            if let port = known { loop.remove(port, forMode: .default) }
            #expect(known == nil)
            #expect(alive.count == 0)

            addPort(.common)
            known?.invalidate()
            #expect(known == nil)
            #expect(alive.count == 0)
        }
    }

    @Test func `a loop that ends releases its ports`() throws {
        let alive = Shared()
        let thread = try RunLoopThread(name: "receiver")
        try thread.runLoop.performAndWait {
            let port = Port<Counted>()
            RunLoop.current.add(port, forMode: .default) { _ in }
            RunLoop.current.add(port, forMode: RunLoop.Mode("other")) { _ in }
            try port.send(Counted(alive))
            RunLoop.current.stop()
            thread.stop()
        }
        thread.join()
        #expect(alive.count == 0)
    }

    @Test func `sending to an ended port throws, and gives the messages back`() throws {
        let port = Port<String>()
        #expect(port.isValid)
        port.invalidate()
        #expect(!port.isValid)
        let one = #expect(throws: PortSendError<String>.self) { try port.send("one") }
        #expect(one?.reason == .invalid)
        #expect(one?.messages == ["one"])
        let several = #expect(throws: PortSendError<String>.self) {
            try port.send(contentsOf: ["a", "b", "c"])
        }
        #expect(several?.reason == .invalid)
        #expect(several?.messages == ["a", "b", "c"])
    }

    @Test func `an ended port stays out of loops`() throws {
        try onLoopThread { loop in
            let port = Port<Int>()
            port.invalidate()
            loop.add(port, forMode: .default) { _ in Issue.record("it has ended") }
            #expect(loop.run(in: .default) == .finished)
        }
    }

    @Test func `a message that is destroyed may send, to its own port and to others`() throws {
        let alive = Shared()
        let refused = Shared()
        let port = Port<Counted>(queueLimit: 4)
        let other = Port<Int>()
        for _ in 0..<4 {
            let message = Counted(alive) {
                do { try other.send(1) } catch { Issue.record(error) }
                let error = #expect(throws: PortSendError<Counted>.self) { try port.send(Counted(alive)) }
                if error?.reason == .invalid { refused.increment() }
            }
            try port.send(message)
        }
        port.invalidate()
        #expect(refused.count == 4)
        #expect(alive.count == 0)
        try onLoopThread { loop in
            var received = 0
            loop.add(other, forMode: .default) { received += $0 }
            loop.settle()
            #expect(received == 4)
        }
    }

    @Test func `a port that another thread ends leaves its sleeping loop, and wakes it`() throws {
        let port = Port<Int>()
        let added = Gate()
        let receiver = try Threads(1) { _ in
            let loop = RunLoop.current
            loop.add(port, forMode: .default) { _ in }
            loop.perform { added.open() }
            #expect(loop.run(in: .default) == .finished)
        }
        #expect(added.wait())
        port.invalidate()
        try receiver.join()
    }

    @Test func `a port that another thread ends while its handler runs starts no other`() throws {
        let alive = Shared()
        let port = Port<Counted>()
        let started = Gate()
        let ended = Gate()
        let calls = Shared()
        let receiver = try Threads(1) { _ in
            let loop = RunLoop.current
            loop.add(port, forMode: .default) { _ in
                calls.increment()
                started.open()
                #expect(ended.wait())
            }
            for _ in 0..<5 { try port.send(Counted(alive)) }
            #expect(loop.run(in: .default) == .finished)
            #expect(alive.count == 0)
        }
        #expect(started.wait())
        port.invalidate()
        ended.open()
        try receiver.join()
        #expect(calls.count == 1)
    }

    @Test func `a port that one thread ends while another adds it does not stay in the loop`() throws {
        let handedOver = Port<Port<Int>>()
        let rounds = 10_000
        let ender = try ender(of: rounds, from: handedOver)
        try onLoopThread { loop in
            for round in 0..<rounds {
                let port = Port<Int>()
                try handedOver.send(port)
                for _ in 0..<round % 32 { _ = port.isValid }
                loop.add(port, forMode: .default) { _ in }
            }
            try ender.join()
            #expect(loop.run(in: .default, until: .now + .seconds(30)) == .finished)
        }
    }

    @Test
    func
        `a port that ends while it leaves its loop destroys at once the messages that the loop had taken in`()
        throws
    {
        let alive = Shared()
        let handedOver = Port<Port<Counted>>()
        let rounds = 10_000
        let ender = try ender(of: rounds, from: handedOver)
        try onLoopThread { loop in
            // The ports are kept, because a port also destroys its messages with its last reference.
            var ports: [Port<Counted>] = []
            for round in 0..<rounds {
                let port = Port<Counted>()
                ports.append(port)
                for _ in 0..<2 { try port.send(Counted(alive)) }
                loop.add(port, forMode: .default) { _ in }
                try handedOver.send(port)
                for _ in 0..<round % 32 { _ = port.isValid }
                loop.remove(port, forMode: .default)
            }
            try ender.join()
            #expect(alive.count == 0)
            withExtendedLifetime(ports) {}
        }
    }

    /// Starts a thread that ends each port as soon as it gets the port.
    private func ender<Message: Sendable>(
        of count: Int, from handedOver: Port<Port<Message>>
    ) throws -> Threads {
        try Threads(1) { _ in
            let loop = RunLoop.current
            var ended = 0
            loop.add(handedOver, forMode: .default) { port in
                port.invalidate()
                ended += 1
                if ended == count { loop.stop() }
            }
            loop.waitPolicy = .spin(for: .milliseconds(1))
            loop.run(in: .default)
        }
    }
}
