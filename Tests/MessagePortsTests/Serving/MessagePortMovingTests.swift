import TestExpectations
import TestSupport
import Testing

@testable import MessagePorts
@testable import RunLoops

/// A port that its own handler, or its filter, moves to another loop.
///
/// From then on only the thread of that loop reads the port.
@Suite struct MessagePortMovingTests {
    private static let later = RunLoop.Mode("later")

    /// A thread whose loop takes over the port of a server.
    fileprivate final class Successor: Sendable {
        let thread: RunLoopThread
        let port: MessagePort

        init(of server: PortServer) throws {
            thread = try RunLoopThread(name: "successor")
            port = server.port
        }

        deinit { thread.stop() }

        /// Removes the port from the current loop, and adds it to the loop of this thread.
        ///
        /// Call this on the thread whose loop has the port.
        func takeOver(
            in mode: RunLoop.Mode, _ handler: @escaping @Sendable (consuming MessagePort.Message) -> Void
        ) {
            RunLoop.current.remove(port, forMode: .common)
            do { try add(in: mode, handler) } catch { Issue.record(error) }
        }

        func add(
            in mode: RunLoop.Mode, _ handler: @escaping @Sendable (consuming MessagePort.Message) -> Void
        ) throws {
            try thread.runLoop.performAndWait { [port] in
                try RunLoop.current.add(port, forMode: mode) { handler($0) }
            }
        }
    }

    @Test
    func `a handler that has passed its port to another loop does not affect the reads of that loop`()
        throws
    {
        let log = Log<String>()
        let (serves, isBack, end) = (Gate(), Gate(), Gate())
        let server = try PortServer(nil, nil)
        let successor = try Successor(of: server)
        let port = server.port
        try server.serve { message in
            log.add("first \(message.id)")
            successor.takeOver(in: .common) { message in
                log.add("second \(message.id)")
                if message.id != 2 { return }
                serves.open()
                #expect(isBack.wait())
                // This thread has the claim, and is serving a message.
                let reads = unsafe port.core.reads
                #expect(reads.lastSender == nil && reads.lastRequester == nil && reads.reports.isEmpty)
                end.open()
            }
            #expect(serves.wait())
        }
        let remote = try server.connect()
        try remote.send(id: 1)
        try remote.send(id: 2)
        #expect(serves.wait())
        // The pass that called the first handler ends before this block.
        try server.onThread { _ in }
        isBack.open()
        #expect(end.wait())
        try remote.send(id: 3)
        waitUntil("all were served") { log.entries == ["first 1", "second 2", "second 3"] }
    }

    @Test func `a filter that has passed its port to another loop is not asked about more connections here`()
        throws
    {
        let log = Log<String>()
        let next = Successor.Holder()
        var limits = MessagePort.Options()
        limits.greetingTimeout = .milliseconds(200)
        let server = try PortServer(
            limits: limits, nil,
            admitting: { _ in
                let successor = next.successor
                let isFirst = log.entries.isEmpty
                log.add(successor?.thread.runLoop == RunLoop.current ? "second" : "first")
                // The mode does not run yet, so the filter is not called there meanwhile.
                if isFirst { successor?.takeOver(in: Self.later) { _ = $0.id } }
                return true
            })
        let successor = try Successor(of: server)
        next.hold(successor)
        // Both peers connect before the filter is called for the first one.
        let sockets = try (0..<2).map { _ in
            HostilePeer(try server.names.names.connect(to: server.name, before: .hang))
        }
        try server.serve { _ = $0.id }
        waitUntil("the first one was let in") { server.port.statistics.connections == 1 }
        try server.onThread { _ in }
        #expect(log.entries == ["first"])
        try successor.add(in: .common) { _ = $0.id }
        waitUntil("both were asked about") { log.entries == ["first", "second"] }
        // A connection that was admitted during the move has the same deadline for its greeting as any other.
        waitUntil("both were too slow") { server.port.statistics.silentPeers == 2 }
        next.hold(nil)
        withExtendedLifetime(sockets) {}
    }

    @Test func `a place that a filter releases is free in the loop that has the port by then`() throws {
        let asked = Shared()
        let next = Successor.Holder()
        var limits = MessagePort.Options()
        limits.connectionLimit = 1
        limits.greetingTimeout = .seconds(600)
        let server = try PortServer(
            limits: limits, nil,
            admitting: { _ in
                if asked.increment() > 0 { return true }
                guard let successor = next.successor else { return false }
                successor.takeOver(in: .common) { _ = $0.id }
                // The second connection finds no free place there.
                waitUntil("no more connections are accepted there") {
                    do {
                        return try successor.thread.runLoop.performAndWait { [port = successor.port] in
                            unsafe !port.core.reads.deadlines.isListening
                        }
                    } catch {
                        Issue.record(error)
                        return true
                    }
                }
                return false
            })
        next.hold(try Successor(of: server))
        let peers = try (0..<2).map { _ in
            HostilePeer(try server.names.names.connect(to: server.name, before: .hang))
        }
        try server.serve { _ = $0.id }
        waitUntil("the second one was let in") { server.port.statistics.connections == 1 }
        #expect(asked.count == 2)
        next.hold(nil)
        withExtendedLifetime(peers) {}
    }

    @Test func `the time that a filter takes does not count against the connection, in any loop`() throws {
        let next = Successor.Holder()
        var limits = MessagePort.Options()
        limits.greetingTimeout = .milliseconds(50)
        let server = try PortServer(
            limits: limits, nil,
            admitting: { _ in
                guard let successor = next.successor else { return true }
                successor.takeOver(in: .common) { _ = $0.id }
                func deadline() -> Moment? {
                    do {
                        return try successor.thread.runLoop.performAndWait { [port = successor.port] in
                            unsafe port.core.reads.deadlines.nextGreetingDeadline
                        }
                    } catch {
                        Issue.record(error)
                        return nil
                    }
                }
                let first = deadline()
                waitUntil("the other loop has seen that it is late") { deadline() != first }
                return true
            })
        next.hold(try Successor(of: server))
        let socket = HostilePeer(try server.names.names.connect(to: server.name, before: .hang))
        try server.serve { _ = $0.id }
        waitUntil("it was too slow") { server.port.statistics.silentPeers == 1 }
        waitUntil("it is gone") { server.port.statistics.connections == 0 }
        next.hold(nil)
        withExtendedLifetime(socket) {}
    }
}

extension MessagePortMovingTests.Successor {
    /// A reference to the successor for the filter, which is made before the successor.
    fileprivate final class Holder: Sendable {
        private let held = Guarded<MessagePortMovingTests.Successor?>(nil)
        var successor: MessagePortMovingTests.Successor? { held.withLock { $0 } }
        func hold(_ successor: MessagePortMovingTests.Successor?) { held.withLock { $0 = successor } }
    }
}
