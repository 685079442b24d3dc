import TestExpectations
import TestSupport
import Testing

@testable import MessagePorts
@testable import RunLoops

/// Messages between a named port and its senders.
@Suite struct MessagePortTests {
    @Test func `a message arrives on the loop's thread, with its number, its bytes and its sender`() throws {
        let log = Log<String>()
        let arrived = Gate()
        let server = try PortServer { message in
            log.add("\(message.id) \(text(message)) \(message.isRequest) \(message.descriptors.count)")
            #expect(message.sender.credentials.isOfThisUser)
            arrived.open()
        }
        let remote = try server.connect()
        try remote.send(bytes("hello"), id: 7)
        #expect(arrived.wait())
        #expect(log.entries == ["7 hello false 0"])
        #expect(remote.peer.isOfThisUser)
        #expect(remote.messageByteLimit == 65_536)
        #expect(server.port.statistics.messages == 1)
    }

    @Test func `a request is answered, and the reply is the requester's`() throws {
        let server = try PortServer { message in
            let (answer, id) = (bytes("got " + text(message)), message.id + 1)
            do { try message.reply(answer, id: id) } catch { Issue.record(error) }
        }
        let remote = try server.connect()
        for number in 0..<100 {
            let reply = try remote.request(bytes("\(number)"), id: UInt32(number), before: .hang)
            let (isSame, id) = (text(reply) == "got \(number)", reply.id)
            #expect(isSame && id == number + 1)
        }
    }

    // Guarantees: A message arrives whole, and messages of one thread arrive in the order in which they were sent.
    @Test func `messages of one sender arrive in the order in which they were sent`() throws {
        let log = Log<UInt32>()
        let server = try PortServer { message in
            log.add(message.id)
            if message.isRequest { do { try message.reply() } catch { Issue.record(error) } }
        }
        let remote = try server.connect()
        for number in 0..<5_000 { try remote.send(id: UInt32(number), before: .hang) }
        _ = try remote.request(id: 5_000, before: .hang)
        #expect(log.entries == Array(0...5_000))
    }

    @Test func `eight clients at once are all served, each in its order`() throws {
        let log = Log<[UInt8]>()
        let server = try PortServer { message in
            log.add(message.bytes)
            if message.isRequest { do { try message.reply() } catch { Issue.record(error) } }
        }
        let clients = try Threads(8) { client in
            let remote = try server.connect()
            for number in 0..<250 { try remote.send([UInt8(client), UInt8(number)], before: .hang) }
            _ = try remote.request([UInt8(client), 250], before: .hang)
        }
        try clients.join()
        for client in 0..<8 {
            #expect(log.entries.filter { $0[0] == client }.map { $0[1] } == Array(0...250))
        }
        #expect(server.port.statistics.admittedPeers == 8)
    }

    @Test func `a sender does not keep out another one, however much it sends`() throws {
        let others = Shared()
        let answered = Gate()
        let server = try PortServer { message in
            if message.isRequest {
                do { try message.reply() } catch { Issue.record(error) }
                answered.open()
            } else {
                others.increment()
            }
        }
        let isDone = Shared()
        let flood = try Threads(1) { _ in
            let remote = try server.connect()
            while isDone.count == 0 { try remote.send([UInt8](repeating: 1, count: 64), before: .hang) }
        }
        let remote = try server.connect()
        waitUntil("the flood has begun") { others.count > 0 }
        for _ in 0..<20 { _ = try remote.request(before: .hang) }
        isDone.increment()
        try flood.join()
        #expect(answered.wait())
    }

    @Test func `in modes that the port is not in, nothing is read, and nothing is lost`() throws {
        let names = try OwnNames()
        try onLoopThread { loop in
            let port = try MessagePort(named: PortName("modes"), in: names.names)
            var received: [UInt32] = []
            let other = RunLoop.Mode("other")
            try loop.add(port, forMode: other) { received.append($0.id) }
            let client = try Threads(1) { _ in
                let remote = try RemotePort(named: PortName("modes"), in: names.names, before: .hang)
                for number in 1...3 { try remote.send(id: UInt32(number), before: .hang) }
            }
            let keepsAlive = Port<Void>()
            loop.add(keepsAlive, forMode: .default) {}
            loop.pass()
            #expect(received.isEmpty)
            while received.count < 3 { _ = loop.run(mode: other, before: .hang) }
            try client.join()
            #expect(received == [1, 2, 3])
            #expect(loop.run(in: .default, until: .now) == .timedOut)
        }
    }

    @Test func `each mode has its own handler, and one that is added twice keeps the first`() throws {
        let names = try OwnNames()
        try onLoopThread { loop in
            let port = try MessagePort(named: PortName("handlers"), in: names.names)
            var received: [String] = []
            let first = Gate()
            let other = RunLoop.Mode("other")
            try loop.add(port, forMode: .default) { received.append("default \($0.id)") }
            try loop.add(port, forMode: .default) { received.append("again \($0.id)") }
            try loop.add(port, forMode: other) { received.append("other \($0.id)") }
            let client = try Threads(1) { _ in
                let remote = try RemotePort(named: PortName("handlers"), in: names.names, before: .hang)
                try remote.send(id: 1, before: .hang)
                #expect(first.wait())
                try remote.send(id: 2, before: .hang)
            }
            while received.isEmpty { _ = loop.run(mode: .default, before: .hang) }
            first.open()
            while received.count < 2 { _ = loop.run(mode: other, before: .hang) }
            try client.join()
            #expect(received == ["default 1", "other 2"])
        }
    }

    @Test func `a port that is removed and added again continues, even in another loop`() throws {
        let log = Log<UInt32>()
        let server = try PortServer { log.add($0.id) }
        let remote = try server.connect()
        try remote.send(id: 1)
        waitUntil("the first has come") { log.entries == [1] }
        try server.pause()
        try remote.send(id: 2)
        try server.onThread { loop in loop.wakeUp() }
        #expect(log.entries == [1])
        let arrived = Gate()
        let port = server.port
        let second = try RunLoopThread(name: "second")
        defer { second.stop() }
        try second.runLoop.performAndWait {
            try RunLoop.current.add(port, forMode: .common) {
                log.add($0.id)
                if $0.id == 3 { arrived.open() }
            }
        }
        try remote.send(id: 3)
        #expect(arrived.wait())
        #expect(log.entries == [1, 2, 3])
    }

    @Test func `a run inside a handler serves the next message`() throws {
        let names = try OwnNames()
        try onLoopThread { loop in
            let port = try MessagePort(named: PortName("nested"), in: names.names)
            var received: [String] = []
            try loop.add(port, forMode: .default) { message in
                received.append("begins \(message.id)")
                if message.id == 1 {
                    while received.count < 3 { _ = loop.run(mode: .default, before: .hang) }
                }
                received.append("ends \(message.id)")
            }
            let client = try Threads(1) { _ in
                let remote = try RemotePort(named: PortName("nested"), in: names.names, before: .hang)
                try remote.send(id: 1, before: .hang)
                try remote.send(id: 2, before: .hang)
            }
            while received.count < 4 { _ = loop.run(mode: .default, before: .hang) }
            try client.join()
            #expect(received == ["begins 1", "begins 2", "ends 2", "ends 1"])
        }
    }

    @Test func `a message that is kept keeps its bytes`() throws {
        let names = try OwnNames()
        try onLoopThread { loop in
            let port = try MessagePort(named: PortName("kept"), in: names.names)
            var kept: MessagePort.Message?
            var count = 0
            try loop.add(port, forMode: .default) { message in
                count += 1
                if count == 1 { kept = consume message }
            }
            let client = try Threads(1) { _ in
                let remote = try RemotePort(named: PortName("kept"), in: names.names, before: .hang)
                for number in 0..<20 {
                    try remote.send([UInt8](repeating: UInt8(number + 1), count: 32), before: .hang)
                }
            }
            while count < 20 { _ = loop.run(mode: .default, before: .hang) }
            try client.join()
            let isAsItWas = kept?.bytes == [UInt8](repeating: 1, count: 32)
            #expect(isAsItWas)
        }
    }

    @Test func `a port in a mode keeps it alive, and one that has ended does not`() throws {
        let names = try OwnNames()
        try onLoopThread { loop in
            let port = try MessagePort(named: PortName("alive"), in: names.names)
            try loop.add(port, forMode: .default) { _ = $0.id }
            #expect(loop.run(in: .default, until: .now) == .timedOut)
            port.invalidate()
            #expect(loop.run(in: .default, until: .hang) == .finished)
            try loop.add(port, forMode: .default) { _ = $0.id }
            #expect(loop.run(in: .default, until: .hang) == .finished)
        }
    }

    @Test(.disabled(if: ForcedRecording.isOn))
    func `a flight recorder sees the connections of both ends begin and end`() throws {
        let recorder = try FlightRecorder()
        defer { recorder.stop() }
        let server = try PortServer { _ in }
        let name = server.port.name.description
        let hasEnded = Gate()
        try server.thread.runLoop.performAndWait { server.port.onPeerEnd { _, _ in hasEnded.open() } }
        do {
            let remote = try server.connect()
            try remote.send(bytes("hello"), id: 7)
            remote.invalidate()
        }
        #expect(hasEnded.wait())
        let events = recorder.snapshot().threads.flatMap(\.events).filter { $0.place == name }
        #expect(events.count { $0.kind == .connection(began: true) } == 2)
        #expect(events.count { $0.kind == .connection(began: false) } == 2)
    }
}
