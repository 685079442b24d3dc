import Glibc
import TestExpectations
import TestSupport
import Testing

@testable import MessagePorts
@testable import RunLoops

/// A process that takes all the connections that it can get leaves some for other processes.
@Suite struct ConnectionQuotaPortTests {
    // Guarantees: A process that keeps connecting leaves connections for other processes, and so does another user, with any number
    // of processes.
    @Test func `a process that keeps connecting gets its quota, and others are let in and answered`()
        throws
    {
        let names = try OwnNames()
        var limits = MessagePort.Options()
        limits.connectionLimit = 8
        limits.connectionLimitPerProcess = 5
        let (greedyWaits, mayEnd) = (RightHolder(), Gate())
        let server = try PortServer(names, limits: limits) { message in
            var message = message
            // The greedy client sends a request when the port refuses it more connections.
            if message.id == 1 { return greedyWaits.keep(message.takeReplyRight()) }
            do { try message.reply() } catch { Issue.record(error) }
        }
        let endings = Log<Program.Ending>()
        let process = try Threads(1) { _ in
            endings.add(try Program("PortPeer").run("hoard", names.directory))
            mayEnd.open()
        }
        waitUntil("the greedy one has all that it gets") { !greedyWaits.isEmpty }
        #expect(server.port.statistics.connections == 5 && server.port.statistics.excessConnections == 20)
        let honest = try (0..<3).map { _ in try server.connect() }
        for remote in honest { _ = try remote.request(before: .hang) }
        // Now no connections are left, and further clients wait.
        #expect(throws: MessagePortError(.timedOut)) {
            _ = try server.connect(before: .now + .milliseconds(20))
        }
        #expect(greedyWaits.reply() == nil)
        try process.join()
        #expect(endings.entries.first?.lines == ["5 connections, 20 refusals"])
        waitUntil("its share is free") { server.port.statistics.connections == 3 }
        let last = try server.connect()
        _ = try last.request(before: .hang)
        withExtendedLifetime(honest) {}
    }

    @Test func `rejected and closed connections do not count against a process's quota`() throws {
        var limits = MessagePort.Options()
        limits.connectionLimitPerProcess = 1
        let count = Shared()
        let server = try PortServer(
            limits: limits, admitting: { _ in count.increment().isMultiple(of: 2) })
        for _ in 0..<10 {
            do {
                let remote = try server.connect()
                #expect(throws: MessagePortError(.tooManyConnections)) { _ = try server.connect() }
                remote.invalidate()
            }
            waitUntil("it is gone") { server.port.statistics.connections == 0 }
            #expect(throws: MessagePortError(.notAdmitted)) { _ = try server.connect() }
        }
        #expect(server.port.statistics.excessConnections == 10 && server.port.statistics.refusedPeers == 10)
    }

    @Test func `a port lets one process have 64 connections by default`() throws {
        let server = try PortServer()
        let remotes = try (0..<64).map { _ in try server.connect() }
        #expect(throws: MessagePortError(.tooManyConnections)) { _ = try server.connect() }
        #expect(remotes.allSatisfy { $0.isValid })
    }

    // Guarantees: A process that keeps connecting leaves connections for other processes, and so does another user, with any number
    // of processes.
    @Test func `processes of another user share one quota`() async throws {
        // Only the administrator can start a process of another user.
        if !Child.canChangeUser { return }
        let name = try PortName("@share-of-user-\(getpid())")
        var limits = MessagePort.Options()
        limits.connectionLimitPerUser = 3
        let port = try MessagePort(named: name, options: limits, admitting: { _ in true })
        let thread = try RunLoopThread(name: "server")
        defer { thread.stop() }
        try await thread.runLoop.performAndWait {
            try RunLoop.current.add(port, forMode: .common) { _ = $0.id }
        }
        let own = try (0..<5).map { _ in try RemotePort(named: name, before: .hang) }
        try await #require(processExitsWith: .success) {
            try #require(setuid(54_322) == 0)
            let name = try PortName("@share-of-user-\(getppid())")
            let remotes = try (0..<3).map { _ in try RemotePort(named: name, before: .hang) }
            let child = Child {
                // The kernel reports this connection as one of another process of the same user.
                do {
                    let socket = try PortNames.user.connect(to: name, before: .hang)
                    // The connection can be refused before it has sent anything.
                    _ = socket.send(Frame(.hello, limits: .init(bodyLength: 0, descriptorCount: 0)))
                    _ = try socket.wait(for: .read, before: .hang)
                    guard case .packet(let packet, _) = socket.take() else { return 100 }
                    return CInt(try decode(packet, 0).id)
                } catch { return 101 }
            }
            #expect(child.wait() == .exited(CInt(Frame.Refusal.tooManyConnections.rawValue)))
            #expect(remotes.allSatisfy { $0.isValid })
        }
        #expect(port.statistics.excessConnections == 1 && own.allSatisfy { $0.isValid })
        port.invalidate()
    }
}
