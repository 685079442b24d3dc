import Inspection
import MessagePorts
import Notifications
import RunLoops
import Streams
import TestSupport
import Testing

/// The parts of a loop that other modules provide, in a report.
@Suite struct InspectedPartTests {
    /// A report that has the details of a loop.
    ///
    /// The timeout is short, because other tests can leave loops that never answer.
    private func report(with name: String) throws -> ProcessReport {
        let end = ContinuousClock.Instant.hang
        while ContinuousClock.now < end {
            let report = ProcessReport(timeout: .milliseconds(200))
            if report.loops.contains(where: { $0.name == name && $0.details != nil }) { return report }
        }
        let unanswered: ProcessReport? = nil
        return try #require(unanswered, "the loop does not answer")
    }

    private func input(
        _ kind: String, of name: String, _ report: ProcessReport
    ) throws -> (counts: [String: Int], madeAt: String, modes: [String]) {
        let loop = try #require(report.loops.first { $0.name == name })
        let inputs = try #require(loop.details).inputs.filter { $0.kind == kind }
        try #require(inputs.count == 1, "those of one kind that were made at one place are one input")
        let counts = try #require(inputs[0].counts)
        let pairs = counts.map { ($0.name, $0.value) }
        return (Dictionary(uniqueKeysWithValues: pairs), inputs[0].madeAt, inputs[0].modes)
    }

    @Test func `listeners and connections are counted by the place where they were made`() throws {
        let server = try RunLoopThread(name: "inspected server")
        defer { server.stop() }
        let path = try ScratchDirectory().path + "/socket"
        let arrived = Gate()
        try server.runLoop.performAndWait {
            var options = Listener.Options()
            options.connectionLimit = 3
            let listener = try Listener(.unix(path: path), options: options)
            var count = 0
            try RunLoop.current.add(listener, forMode: .default) { accepted in
                let connection = Connection(accepted)
                connection.onReceive { _, bytes in bytes.byteCount }
                try? RunLoop.current.add(connection, forMode: .default)
                connection.isReadingPaused = true
                count += 1
                if count == 2 { arrived.open() }
            }
        }
        try onLoopThread { loop in
            let clients = (0..<2).map { _ in Connection(connectingTo: .unix(path: path)) }
            for client in clients { try loop.add(client, forMode: .default) }
            let end = ContinuousClock.Instant.hang
            while clients.contains(where: { $0.peerAddress == nil }), ContinuousClock.now < end {
                loop.run(in: .default, until: end, returnAfterSourceHandled: true)
            }
            #expect(arrived.wait())
            let report = try report(with: "inspected server")
            let listener = try input("listener", of: "inspected server", report)
            #expect(listener.counts["accepted"] == 2)
            #expect(listener.counts["open connections"] == 2)
            #expect(listener.modes == ["default"])
            #expect(listener.madeAt.hasPrefix("InspectionTests/InspectedPartTests.swift:"))
            let connections = try input("connection", of: "inspected server", report)
            #expect(connections.counts == ["connections": 2, "unsent bytes": 0, "paused": 2])
            #expect(report.text().contains("listeners 1, open connections 2, accepted 2"))
            for client in clients { client.close() }
        }
    }

    @Test func `a port between processes tells its peers and its messages`() throws {
        let scratch = try ScratchDirectory()
        let names = PortNames(directory: scratch.path)
        let server = try RunLoopThread(name: "inspected port")
        defer { server.stop() }
        let received = Gate()
        let name = try PortName("inspected")
        try server.runLoop.performAndWait {
            let port = try MessagePort(named: name, in: names)
            try RunLoop.current.add(port, forMode: .default) { _ in received.open() }
        }
        let remote = try RemotePort(named: name, in: names)
        try remote.send([1])
        #expect(received.wait())
        let port = try input("message port", of: "inspected port", report(with: "inspected port"))
        #expect(port.counts["connections"] == 1)
        #expect(port.counts["messages"] == 1)
        #expect(port.counts["malformed"] == 0)
        withExtendedLifetime(remote) {}
    }

    @Test func `observers of notifications are counted, and what they drop`() throws {
        let center = NotificationCenter()
        let thread = try RunLoopThread(name: "inspected observers")
        defer { thread.stop() }
        let name = Notification.Name("told")
        var tokens: [ObservationToken] = []
        for _ in 0..<2 {
            // Nothing is delivered in this mode, so a second notification replaces the first one.
            tokens.append(
                center.addObserver(
                    forName: name, object: nil, on: thread.runLoop, inModes: [RunLoop.Mode("other")],
                    capacity: .bounded(1, .dropOldest)
                ) { _ in })
        }
        for _ in 0..<3 { center.post(name: name, object: nil) }
        let report = try report(with: "inspected observers")
        let observers = try input("notification observers", of: "inspected observers", report)
        #expect(observers.counts == ["observers": 2, "dropped": 4, "undelivered": 0])
        for token in tokens { center.removeObserver(token) }
    }
}
