import Glibc
import TestExpectations
import TestSupport
import Testing

@testable import MessagePorts
@testable import RunLoops

/// Remote ports in a loop.
@Suite struct RemotePortLoopTests {
    @Test func `connecting does not wait for the port, and is told when the port lets it in`() throws {
        let server = try PortServer(nil, nil)
        try onLoopThread { loop in
            let remote = try RemotePort(connectingTo: server.name, in: server.names.names)
            var events: [String] = []
            try loop.add(remote, forMode: .common) { events.append("message \($0.id)") }
            remote.onConnect { events.append($0 === remote ? "connected" : "another port") }
            loop.settle()
            #expect(
                events.isEmpty && !remote.isConnected && remote.isValid && remote.messageByteLimit == 0
                    && remote.descriptorLimit == 0)
            #expect(try !remote.trySend())
            try server.serve { message in
                do { _ = try server.port.trySend(id: message.id, to: message.sender) } catch {
                    Issue.record(error)
                }
            }
            while events.isEmpty { _ = loop.run(mode: .default, before: .hang) }
            #expect(
                events == ["connected"] && remote.isConnected && remote.messageByteLimit == 65_536
                    && remote.descriptorLimit == 32)
            #expect(try remote.trySend(id: 5))
            while events.count < 2 { _ = loop.run(mode: .default, before: .hang) }
            #expect(events == ["connected", "message 5"])
            remote.onConnect { _ in events.append("again") }
            while events.count < 3 { _ = loop.run(mode: .default, before: .hang) }
            #expect(events.last == "again")
        }
    }

    @Test func `a name that no port has is refused at once`() throws {
        let names = try OwnNames()
        let name = try PortName("nobody")
        #expect(throws: MessagePortError.name(.unknown(name))) {
            _ = try RemotePort(connectingTo: name, in: names.names)
        }
    }

    @Test func `a port that does not admit this process ends the connection with that reason`() throws {
        let server = try PortServer(nil) {
            _ = $0.id
        } admitting: { _ in
            false
        }
        try onLoopThread { loop in
            let remote = try RemotePort(connectingTo: server.name, in: server.names.names)
            var endings: [MessagePortError] = []
            try loop.add(remote, forMode: .common) { _ = $0.id }
            remote.onConnect { _ in Issue.record("it was not let in") }
            remote.onEnd { ended, error in
                #expect(ended === remote)
                endings.append(error)
            }
            while endings.isEmpty { _ = loop.run(mode: .default, before: .hang) }
            #expect(endings == [MessagePortError(.notAdmitted)] && !remote.isValid)
            // The port has left the loop, so the mode is empty.
            #expect(loop.run(mode: .default, before: .hang) == false)
        }
    }

    // Guarantees: The end of a connection that a loop reads is reported once, behind the messages that arrived before it, unless
    // the port is removed from the loop or the loop ends.
    @Test func `the end is told once, behind the messages that came before it`() throws {
        let stage = try PushStage()
        let client = try stage.silentClient()
        let peer = try stage.peer()
        for number in 0..<UInt32(100) { #expect(try stage.port.trySend(id: number, to: peer)) }
        stage.port.invalidate()
        let count = Log<Int>()
        let log = client.log
        try client.onThread { [remote = client.remote, hasEnded = client.hasEnded] loop in
            try loop.add(remote, forMode: .common) { log.add($0.id) }
            remote.onEnd { _, _ in
                count.add(log.entries.count)
                hasEnded.open()
            }
        }
        #expect(client.hasEnded.wait())
        #expect(log.entries == Array(0..<100) && count.entries == [100])
    }

    @Test func `this end's own end is told on the loop, from whatever thread it comes`() throws {
        let stage = try PushStage()
        let client = try stage.silentClient()
        try client.read()
        client.remote.invalidate()
        client.remote.invalidate()
        #expect(client.hasEnded.wait())
        try client.onThread { _ in }
        #expect(client.ended.entries == [MessagePortError(.ended)])
        // After the end a new handler is released, and setting it is not misuse.
        try client.onThread { [remote = client.remote] _ in remote.onRoom { _ in } }
    }

    @Test func `without room nothing is sent, and room is told once`() throws {
        let server = try PortServer(nil, nil)
        let log = Log<UInt32>()
        try server.serve { log.add($0.id) }
        let client = try PushClient(server)
        try client.read()
        try server.pause()
        var count: UInt32 = 0
        while try client.remote.trySend(id: count) { count += 1 }
        #expect(count > 50)
        for _ in 0..<5 { #expect(try !client.remote.trySend(id: 0)) }
        #expect(client.room.count == 0)
        try server.serve { log.add($0.id) }
        waitUntil("there is room") { client.room.count > 0 }
        waitUntil("all have come") { log.entries.count == count }
        #expect(log.entries == Array(0..<count))
        try client.onThread { _ in }
        #expect(client.room.count == 1)
    }

    @Test func `a sender that came before the port was let in is told of room`() throws {
        let server = try PortServer(nil, nil)
        try onLoopThread { loop in
            let remote = try RemotePort(connectingTo: server.name, in: server.names.names)
            var rooms = 0
            try loop.add(remote, forMode: .common) { _ = $0.id }
            remote.onRoom { rooms += $0 === remote ? 1 : 100 }
            #expect(try !remote.trySend())
            // The socket has room, and does not keep the loop awake.
            loop.settle()
            #expect(!loop.run(mode: .default, before: .now + .milliseconds(10)) || rooms == 0)
            try server.serve { _ = $0.id }
            while rooms == 0 { _ = loop.run(mode: .default, before: .hang) }
            #expect(try remote.trySend())
        }
    }

    @Test func `when the kernel is out of resources, room is told after a pause`() throws {
        let log = Log<UInt32>()
        let server = try PortServer { log.add($0.id) }
        try onLoopThread { loop in
            let remote = try RemotePort(connectingTo: server.name, in: server.names.names)
            var rooms = 0
            try loop.add(remote, forMode: .common) { _ = $0.id }
            loop.connect(remote, in: .default)
            remote.onRoom { _ in rooms += 1 }
            for times in 1...3 {
                Faults.refuseSends(ENOBUFS, times: 1)
                #expect(try !remote.trySend())
                while rooms < times { _ = loop.run(mode: .default, before: .hang) }
            }
            #expect(try remote.trySend(id: 4))
            waitUntil("it has come") { log.entries == [4] }
        }
    }

    @Test func `the loop's own thread does not wait for what its loop would read, and other threads do`()
        async throws
    {
        let stage = try PushStage()
        let client = try stage.silentClient()
        try client.read()
        let remote = client.remote
        let own = try client.onThread { _ in
            refusal { () throws(MessagePortError) in _ = try remote.request(id: 1, before: .hang) }
        }
        #expect(own == MessagePortError(.wouldDeadlock))
        let threads = try Threads(4) { index in
            for number in 0..<UInt32(50) {
                let reply = try remote.request(id: UInt32(index) * 100 + number, before: .hang)
                let id = reply.id
                #expect(id == UInt32(index) * 100 + number)
            }
        }
        try threads.join()
        let reply = try await remote.request(id: 77, before: .hang)
        let id = reply.id
        #expect(id == 77)
    }

    @Test func `sending waits until the port has let this process in`() throws {
        let server = try PortServer(nil, nil)
        let log = Log<UInt32>()
        try onLoopThread { loop in
            let remote = try RemotePort(connectingTo: server.name, in: server.names.names)
            try loop.add(remote, forMode: .common) { _ = $0.id }
            let past = refusal { () throws(MessagePortError) in try remote.send(before: .distantPast) }
            #expect(past == MessagePortError(.timedOut))
            #expect(
                refusal { () throws(MessagePortError) in try remote.send() }
                    == MessagePortError(.wouldDeadlock))
            let sent = Gate()
            let sender = try Threads(1) { _ in
                try remote.send(id: 3, before: .hang)
                sent.open()
            }
            try server.serve { log.add($0.id) }
            while log.entries.isEmpty { _ = loop.run(mode: .default, before: .now + .milliseconds(5)) }
            #expect(sent.wait())
            try sender.join()
            #expect(log.entries == [3])
        }
    }

    @Test func `in modes that the port is not in, nothing is read, and nothing is lost`() throws {
        let stage = try PushStage()
        try onLoopThread { loop in
            let remote = try RemotePort(connectingTo: stage.server.name, in: stage.server.names.names)
            var received: [UInt32] = []
            let other = RunLoop.Mode("other")
            try loop.add(remote, forMode: other) { received.append($0.id) }
            loop.connect(remote, in: other)
            #expect(try remote.trySend())
            let peer = try stage.peer()
            for number in 0..<UInt32(3) { #expect(try stage.port.trySend(id: number, to: peer)) }
            loop.settle()
            #expect(received.isEmpty)
            loop.remove(remote, forMode: other)
            try loop.add(remote, forMode: .default) { received.append($0.id) }
            while received.count < 3 { _ = loop.run(mode: .default, before: .hang) }
            #expect(received == [0, 1, 2])
        }
    }

    @Test func `a handler that runs the loop gets the next messages inside it`() throws {
        let stage = try PushStage()
        try onLoopThread { loop in
            let remote = try RemotePort(connectingTo: stage.server.name, in: stage.server.names.names)
            var received: [String] = []
            try loop.add(remote, forMode: .common) { message in
                let id = message.id
                received.append("begin \(id)")
                if id == 0 { while received.count < 3 { _ = loop.run(mode: .default, before: .hang) } }
                received.append("end \(id)")
            }
            loop.connect(remote, in: .default)
            #expect(try remote.trySend())
            let peer = try stage.peer()
            for number in 0..<UInt32(2) { #expect(try stage.port.trySend(id: number, to: peer)) }
            while received.count < 4 { _ = loop.run(mode: .default, before: .hang) }
            #expect(received == ["begin 0", "begin 1", "end 1", "end 0"])
        }
    }

    @Test func `a loop that ends releases the port and its handlers`() throws {
        let stage = try PushStage()
        let alive = Shared()
        try onLoopThread { loop in
            let remote = try RemotePort(connectingTo: stage.server.name, in: stage.server.names.names)
            let counted = (Counted(alive), Counted(alive), Counted(alive), Counted(alive))
            try loop.add(remote, forMode: .common) { _ in withExtendedLifetime(counted.0) {} }
            remote.onConnect { _ in withExtendedLifetime(counted.1) {} }
            remote.onRoom { _ in withExtendedLifetime(counted.2) {} }
            remote.onEnd { _, _ in withExtendedLifetime(counted.3) {} }
        }
        waitUntil("all is released") { alive.count == 0 && stage.port.statistics.connections == 0 }
    }
}
