import Glibc
import RunLoops
import Streams
import TestExpectations
import TestSupport
import Testing

/// Listeners that stop, and report when their connections have ended.
@Suite struct ListenerStopTests {
    /// A listener whose accepted connections are kept, and a number of clients that it has accepted.
    private final class Stage {
        let loop: RunLoop
        let listener: Listener
        var connections: [Connection] = []
        var clients: [CInt] = []

        init(_ loop: RunLoop, clients count: Int) throws {
            self.loop = loop
            listener = try Listener(.tcp(host: "127.0.0.1", port: 0))
            try loop.add(listener, forMode: .default) { [unowned self] accepted in
                let connection = Connection(accepted)
                recorded { try loop.add(connection, forMode: .default) }
                connections.append(connection)
            }
            let port = try #require(listener.localAddress.port)
            for _ in 0..<count { clients.append(try Loopback.connect(to: port)) }
            loop.run(until: "all are accepted") { connections.count == count }
        }

        func closeClients() { for client in clients { Loopback.close(client) } }
    }

    // Guarantees: A stop is reported once, when the last connection of the listener has ended, on any loop.
    @Test func `a listener reports its stop once for each call, when its last connection has ended`() throws {
        try onLoopThread { loop in
            let stage = try Stage(loop, clients: 3)
            var reports: [Int] = []
            stage.listener.stop {
                #expect($0 === stage.listener)
                reports.append(1)
            }
            stage.listener.stop { _ in reports.append(2) }
            #expect(!stage.listener.isValid)
            for connection in stage.connections.dropLast() { connection.close() }
            loop.settle()
            #expect(reports == [])
            #expect(stage.listener.connectionCount == 1)
            stage.connections[2].close()
            loop.run(until: "both are reported") { reports.count == 2 }
            #expect(reports == [1, 2])
            stage.listener.stop { _ in reports.append(3) }
            #expect(reports == [1, 2], "never during the call")
            loop.run(until: "the third is reported") { reports.count == 3 }
            stage.closeClients()
        }
    }

    // Guarantees: A stop is reported once, when the last connection of the listener has ended, on any loop.
    @Test func `a connection that another loop has ends the stop on the loop of the listener`() throws {
        let worker = try RunLoopThread(name: "worker")
        try onLoopThread { loop in
            let listener = try Listener(.tcp(host: "127.0.0.1", port: 0))
            let isServed = Gate()
            try loop.add(listener, forMode: .default) { accepted in
                accepted.perform(on: worker.runLoop) { accepted in
                    let connection = Connection(accepted)
                    connection.onInputEnd { $0.close() }
                    recorded { try RunLoop.current.add(connection, forMode: .default) }
                    isServed.open()
                }
            }
            let client = try Loopback.connect(to: try #require(listener.localAddress.port))
            loop.run(until: "the connection is accepted") { listener.statistics.accepted == 1 }
            #expect(isServed.wait())
            var hasStopped = false
            listener.stop { _ in hasStopped = loop.isCurrent }
            loop.settle()
            #expect(!hasStopped)
            Loopback.close(client)
            loop.run(until: "the stop is reported") { hasStopped }
        }
        worker.stop()
        worker.join()
    }

    private actor Server {
        nonisolated let loop: RunLoop
        nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe loop.asUnownedSerialExecutor() }
        private var listener: Listener?
        private var connections: [Connection] = []

        init(on loop: RunLoop) { self.loop = loop }

        func start(_ accepted: Gate) throws -> UInt16 {
            let listener = try Listener(.tcp(host: "127.0.0.1", port: 0))
            try loop.add(listener, forMode: .default) { [unowned self] socket in
                let connection = Connection(socket)
                recorded { try RunLoop.current.add(connection, forMode: .default) }
                assumeIsolated { $0.connections.append(connection) }
                accepted.open()
            }
            self.listener = listener
            return try #require(listener.localAddress.port)
        }

        func stop(_ willStop: Gate) async -> Bool {
            guard let listener else { return false }
            willStop.open()
            await listener.stop()
            return !listener.isValid
        }

        var count: Int? { listener?.connectionCount }

        func closeAll() { for connection in connections { connection.close() } }
    }

    @Test(arguments: [false, true])
    func `a task waits for the stop until the last connection has ended, or until it is cancelled`(
        isCancelled: Bool
    ) async throws {
        let thread = try RunLoopThread(name: "server")
        let server = Server(on: thread.runLoop)
        let (accepted, willStop) = (Gate(), Gate())
        let port = try await server.start(accepted)
        let client = try Loopback.connect(to: port)
        #expect(accepted.wait())
        let end = Shared()
        let task = Task {
            let isInvalid = await server.stop(willStop)
            end.increment()
            return isInvalid
        }
        #expect(willStop.wait())
        // The actor is free only when the stop waits.
        #expect(await server.count == 1)
        #expect(end.count == 0)
        if isCancelled { task.cancel() } else { await server.closeAll() }
        #expect(await task.value)
        #expect(await server.count == (isCancelled ? 1 : 0))
        await server.closeAll()
        Loopback.close(client)
        thread.stop()
        await thread.join()
    }

    @Test func `listeners and connections are keys by their identity`() throws {
        try onLoopThread { loop in
            let stage = try Stage(loop, clients: 2)
            let other = try Listener(.tcp(host: "127.0.0.1", port: 0))
            #expect(Set([stage.listener, other, stage.listener]).count == 2)
            #expect(Set(stage.connections + stage.connections).count == 2)
            #expect(stage.connections[0] != stage.connections[1])
            // The port is free again when the first listener has ended.
            let address = stage.listener.localAddress
            stage.closeClients()
            for connection in stage.connections { connection.reset() }
            stage.listener.invalidate()
            let next = try Listener(.address(address))
            #expect(next.localAddress == address)
            next.invalidate()
            other.invalidate()
        }
    }
}
