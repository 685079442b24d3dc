import TestExpectations
import TestSupport
import Testing

@testable import MessagePorts
@testable import RunLoops

/// Programs that have more to do for their peers than they do at once.
@Suite struct PortTurnTests {
    @Test func `a turn comes after everyone with messages, and a paused peer is read after the turns`() throws
    {
        let log = Log<String>()
        let server = try PortServer { message in _ = consume message }
        let (first, second) = (try server.connect(), try server.connect())
        // All messages are sent before the port is served again.
        try server.pause()
        try first.send(id: 1)
        try first.send(id: 2)
        try second.send(id: 3)
        try server.onThread { [port = server.port] loop in
            var paused: MessagePort.Peer?
            try loop.add(port, forMode: .common) { [unowned port] message in
                log.add("message \(message.id)")
                if message.id != 1 { return }
                paused = message.sender
                port.pauseReading(message.sender)
                // However often it is asked for, there is one turn.
                for _ in 0..<3 { port.giveTurn() }
            }
            var turns = 0
            port.onTurn { [unowned port] budget in
                turns += 1
                log.add(budget.spend() ? "turn \(turns)" : "no budget")
                if turns < 3 { port.giveTurn() } else if let paused { port.resumeReading(paused) }
            }
        }
        waitUntil("all is served") { log.entries.count == 6 }
        let entries = log.entries
        #expect(Set(entries.prefix(2)) == ["message 1", "message 3"])
        #expect(Array(entries.dropFirst(2)) == ["turn 1", "turn 2", "turn 3", "message 2"])
        withExtendedLifetime((first, second)) {}
    }

    @Test func `a paused peer that is disconnected ends, and the port goes on`() throws {
        let log = Log<UInt32>()
        let server = try PortServer { message in _ = consume message }
        let first = try server.connect()
        // Both messages are sent before the port is served again, which ends the connection at the first.
        try server.pause()
        for _ in 0..<2 { try first.send(id: 1) }
        try server.onThread { [port = server.port] loop in
            try loop.add(port, forMode: .common) { [unowned port] message in
                log.add(message.id)
                port.pauseReading(message.sender)
                if message.id == 1 { port.disconnect(message.sender) } else { port.giveTurn() }
            }
            port.onPeerEnd { _, _ in log.add(50) }
            port.onTurn { _ in log.add(100) }
        }
        waitUntil("the first has ended") { log.entries.contains(50) }
        let second = try server.connect()
        try second.send(id: 2)
        waitUntil("there is a turn") { log.entries.contains(100) }
        #expect(log.entries == [1, 50, 2, 100])
        withExtendedLifetime((first, second)) {}
    }
}
