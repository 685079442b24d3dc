import TestExpectations
import TestSupport
import Testing

@testable import RunLoops

/// Messages that were sent together and share a node behave like any other messages.
@Suite struct PortPackTests {
    /// The number of messages that fill two nodes, plus one.
    private static let most = 2 * Node.capacity(for: Int.self) + 1

    @Test func `a port that is removed in the middle of a pack keeps the rest for the next receiver`() throws
    {
        try onLoopThread { loop in
            for count in 1...Self.most {
                for middle in 1...count {
                    let port = Port<Int>()
                    var received: [Int] = []
                    loop.add(port, forMode: .default) { number in
                        received.append(number)
                        if received.count == middle { loop.remove(port, forMode: .default) }
                    }
                    try port.send(contentsOf: 0..<count)
                    loop.settle()
                    #expect(received == Array(0..<middle))
                    loop.add(port, forMode: .default) { received.append($0) }
                    loop.settle()
                    #expect(received == Array(0..<count))
                    loop.remove(port, forMode: .default)
                }
            }
        }
    }

    @Test func `a port that ends in the middle of a pack destroys the rest, each message once`() throws {
        try onLoopThread { loop in
            for count in 1...Self.most {
                for middle in 0...count {
                    let alive = Shared()
                    let port = Port<Counted>()
                    var received = 0
                    loop.add(port, forMode: .default) { _ in
                        received += 1
                        if received == middle { port.invalidate() }
                    }
                    try port.send(contentsOf: (0..<count).map { _ in Counted(alive) })
                    if middle == 0 { port.invalidate() }
                    loop.settle()
                    #expect(received == middle)
                    #expect(alive.count == 0)
                }
            }
        }
    }

    @Test func `the rest of a pack waits if the run is stopped in the middle, or in another mode`() throws {
        try onLoopThread { loop in
            let modal = RunLoop.Mode("modal")
            loop.add(Port<Int>(), forMode: modal) { _ in }
            for count in 1...Self.most {
                for middle in 1...count {
                    let port = Port<Int>()
                    var received: [Int] = []
                    loop.add(port, forMode: .default) { number in
                        received.append(number)
                        if received.count == middle {
                            loop.pass(in: modal)
                            #expect(received.count == middle)
                            loop.stop()
                        }
                    }
                    try port.send(contentsOf: 0..<count)
                    #expect(loop.run(in: .default, until: .now + .seconds(30)) == .stopped)
                    loop.settle()
                    #expect(received == Array(0..<count))
                    loop.remove(port, forMode: .default)
                }
            }
        }
    }

    @Test func `a run inside a handler takes the rest, and what was sent since`() throws {
        try onLoopThread { loop in
            for count in 1...Self.most {
                for middle in 1...count {
                    let port = Port<Int>()
                    var received: [Int] = []
                    loop.add(port, forMode: .default) { number in
                        received.append(number)
                        if received.count != middle { return }
                        do { try port.send(contentsOf: count..<count + 3) } catch { Issue.record(error) }
                        loop.settle()
                        #expect(received == Array(0..<count + 3))
                    }
                    try port.send(contentsOf: 0..<count)
                    loop.settle()
                    #expect(received == Array(0..<count + 3))
                    loop.remove(port, forMode: .default)
                }
            }
        }
    }

    @Test func `a limit counts messages, and each that is handed out makes room for one`() throws {
        try onLoopThread { loop in
            let limit = Node.capacity(for: Int.self)
            let port = Port<Int>(queueLimit: PortQueueLimit(limit))
            try port.send(contentsOf: 0..<limit)
            var received: [Int] = []
            loop.add(port, forMode: .default) { number in
                received.append(number)
                let next = number + limit
                if number > 20 { return }
                do throws(PortSendError<Int>) {
                    try port.send(contentsOf: [next, -1], before: .distantPast)
                    Issue.record("there is room for one")
                } catch { #expect(error.messages == [-1]) }
            }
            loop.settle()
            #expect(received == Array(0...20 + limit))
        }
    }

    @Test(arguments: [1, 2, 3, 6, 7, 20])
    func `refused messages come back in order, each once`(count: Int) throws {
        let alive = Shared()
        do {
            let messages = (0..<count).map { (number: $0, counted: Counted(alive)) }
            let port = Port<(number: Int, counted: Counted)>(queueLimit: .unlimited)
            port.invalidate()
            do throws(PortSendError<(number: Int, counted: Counted)>) {
                try port.send(contentsOf: messages)
                Issue.record("the port has ended")
            } catch { #expect(error.messages.map(\.number) == Array(0..<count)) }
        }
        #expect(alive.count == 0)
    }

    @Test func `the nodes of refused messages are ordinary ones again`() throws {
        // A new thread, whose slabs no other thread has.
        try onLoopThread { _ in
            let port = Port<Int>(queueLimit: .unlimited)
            port.invalidate()
            for _ in 0..<10 {
                #expect(throws: PortSendError<Int>.self) { try port.send(contentsOf: 0..<1_000) }
            }
            let nodes = (0..<1_000).map { _ in Node.make() }
            #expect(nodes.allSatisfy { $0.mark == .ordinary })
            for node in nodes { PortCore.discard(node) }
        }
    }

    @Test func `one pass serves as many as of single messages`() throws {
        try onLoopThread { loop in
            let port = Port<Int>(queueLimit: .unlimited)
            var received = 0
            loop.add(port, forMode: .default) { _ in received += 1 }
            try port.send(contentsOf: 0..<10 * Budget.messages)
            var most = 0
            while received < 10 * Budget.messages {
                let before = received
                loop.pass()
                most = max(most, received - before)
            }
            #expect(most <= Budget.messages)
        }
    }

    @Test func `a set receives them one by one, and a loop what the set has left`() throws {
        try onLoopThread { loop in
            for count in 1...Self.most {
                for middle in 0...count {
                    let port = Port<String>()
                    try port.send(contentsOf: (0..<count).map { "message \($0), too long for a small one" })
                    let set = PortSet<String>()
                    set.add(port)
                    var received: [String] = []
                    for _ in 0..<middle { received.append(try set.receive(before: .distantPast)) }
                    set.remove(port)
                    loop.add(port, forMode: .default) { received.append($0) }
                    loop.settle()
                    #expect(received == (0..<count).map { "message \($0), too long for a small one" })
                    loop.remove(port, forMode: .default)
                }
            }
        }
    }

    @Test func `several threads that receive from a set get each message once`() throws {
        let port = Port<Int>(queueLimit: .unlimited)
        let set = PortSet<Int>()
        set.add(port)
        let received = Log<Int>()
        let receivers = try Threads(3) { _ in
            while true {
                let number = try set.receive()
                if number < 0 { return }
                received.add(number)
            }
        }
        for start in stride(from: 0, to: 10_000, by: 10) { try port.send(contentsOf: start..<start + 10) }
        for _ in 0..<3 { try port.send(-1) }
        try receivers.join()
        #expect(received.entries.sorted() == Array(0..<10_000))
    }
}
