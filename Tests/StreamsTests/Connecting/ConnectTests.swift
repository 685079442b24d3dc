import Glibc
import RunLoops
import RunLoopsTesting
import Streams
import TestExpectations
import TestSupport
import Testing

/// A connection is made, or ends with the reason why it cannot be made.
@Suite struct ConnectTests {
    /// Adds a connection to the loop, and runs the loop until the connection has ended.
    private func end(_ loop: RunLoop, _ connection: Connection) throws -> (
        Connection.EndReason, wasConnected: Bool
    ) {
        var reason: Connection.EndReason?
        var wasConnected = false
        connection.onConnect { _ in wasConnected = true }
        connection.onEnd { reason = $1 }
        try loop.add(connection, forMode: .default)
        loop.run()
        return (try #require(reason), wasConnected)
    }

    @Test func `a port at which no process listens refuses`() throws {
        try onLoopThread { loop in
            let (socket, port) = try Loopback.listen()
            close(socket)
            let connection = Connection(connectingTo: .tcp(host: "127.0.0.1", port: port))
            let (reason, wasConnected) = try end(loop, connection)
            #expect(reason == .failed(SystemError(call: "connect", code: ECONNREFUSED)))
            #expect(!wasConnected)
        }
    }

    @Test func `a socket that is connected to itself is refused, and does not keep its port`() throws {
        try onLoopThread { loop in
            let (socket, port) = try Loopback.listen()
            close(socket)
            for endpoint in [
                Endpoint.tcp(host: "127.0.0.1", port: port), .tcp(host: "::1", port: port),
                .tcp(host: "localhost", port: port),
            ] {
                Faults.connectToItself(times: 2)
                let (reason, wasConnected) = try end(loop, .init(connectingTo: endpoint))
                Faults.connectToItself(times: 0)
                #expect(!wasConnected)
                guard case .failed(let error) = reason else {
                    Issue.record("\(reason)")
                    continue
                }
                // A machine can be without IPv6.
                #expect(error.code == ECONNREFUSED || "\(endpoint)".contains("::") && error.call != "connect")
                let server = try Listener(.tcp(host: "127.0.0.1", port: port))
                server.invalidate()
            }
        }
    }

    @Test func `a Unix socket that is not there is an error`() throws {
        try onLoopThread { loop in
            let (reason, _) = try end(loop, .init(connectingTo: .unix(path: "/no/such/path")))
            #expect(reason == .failed(SystemError(call: "connect", code: ENOENT)))
            let long = String(repeating: "x", count: 200)
            #expect(
                try end(loop, .init(connectingTo: .unix(path: long))).0
                    == .failed(SystemError(call: "connect", code: ENAMETOOLONG)))
        }
    }

    @Test func `a name that no server knows is an error that names it`() throws {
        try onLoopThread { loop in
            var options = Connection.Options()
            options.connectTimeout = nil
            let (reason, _) = try end(
                loop, .init(connectingTo: .tcp(host: "no such name.invalid", port: 1), options: options))
            guard case .unresolved(let error) = reason else {
                Issue.record("\(reason)")
                return
            }
            #expect(error.host == "no such name.invalid")
            #expect("\(reason)".contains("no such name.invalid"))
        }
    }

    @Test func `the addresses of a host are tried until one answers`() throws {
        try onLoopThread { loop in
            // Only one of the two address families of this name has a listener.
            let listener = try Listener(.tcp(host: "127.0.0.1", port: 0))
            let port = try #require(listener.localAddress.port)
            try loop.add(listener, forMode: .default) { accepted in
                _ = accepted.release()
                listener.invalidate()
            }
            let connection = Connection(connectingTo: .tcp(host: "localhost", port: port))
            let (reason, wasConnected) = try end(loop, connection)
            #expect(wasConnected)
            #expect(reason == .peerClosed || reason == .reset)
        }
    }

    @Test func `a connection that is not made in time ends`() throws {
        try RunLoopSimulation.run(seed: 1) { simulation in
            // A listener with a full backlog does not answer.
            let (socket, port) = try Loopback.listen()
            defer { close(socket) }
            listen(socket, 0)
            let fill = try (0..<4).map { _ in try Loopback.connect(to: port) }
            defer { for socket in fill { close(socket) } }
            var options = Connection.Options()
            options.connectTimeout = .seconds(7)
            let connection = Connection(connectingTo: .tcp(host: "127.0.0.1", port: port), options: options)
            let calls = Calls()
            calls.watch(connection)
            try RunLoop.current.add(connection, forMode: .default)
            simulation.advance(by: .milliseconds(6900))
            #expect(calls.list == [])
            simulation.advance(by: .milliseconds(100))
            #expect(calls.list == ["end: \(Connection.EndReason.timedOut(.connect))"])
        }
    }

    @Test func `an attempt that has succeeded counts, even if its report comes after the time-out`() throws {
        try onLoopThread { loop in
            let (socket, port) = try Loopback.listen()
            defer { close(socket) }
            var options = Connection.Options()
            options.connectTimeout = .milliseconds(20)
            let connection = Connection(connectingTo: .tcp(host: "127.0.0.1", port: port), options: options)
            let calls = Calls()
            calls.watch(connection)
            connection.onConnect { _ in calls.list.append("connected") }
            try loop.add(connection, forMode: .default)
            // When the listener's backlog has a connection, the attempt has succeeded. Its report has not been served yet.
            var entry = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
            while unsafe poll(&entry, 1, 0) == 0 { loop.run(in: .default, until: .now) }
            #expect(calls.list == [])
            // As if a handler had blocked the loop.
            let end = ContinuousClock.now.advanced(by: .milliseconds(30))
            while ContinuousClock.now < end {}
            loop.settle()
            #expect(calls.list == ["connected"])
            connection.close()
            loop.run()
        }
    }

    @Test func `a connection waits for room in the backlog of a Unix socket`() throws {
        try onLoopThread { loop in
            let scratch = try ScratchDirectory()
            var settings = Listener.Options()
            settings.backlog = 0
            let listener = try Listener(.unix(path: scratch.path + "/server"), options: settings)
            var clients: [Connection] = []
            let calls = Calls()
            for index in 0..<4 {
                let client = Connection(connectingTo: .unix(path: scratch.path + "/server"))
                client.onConnect { _ in calls.list.append("connected \(index)") }
                client.onEnd { calls.list.append("end \(index): \($1)") }
                try loop.add(client, forMode: .default)
                clients.append(client)
            }
            loop.settle()
            #expect(calls.list.count < 4 && calls.list.allSatisfy { $0.hasPrefix("connected") })
            var accepted: [Connection] = []
            try loop.add(listener, forMode: .default) { socket in
                let connection = Connection(socket)
                recorded { try loop.add(connection, forMode: .default) }
                accepted.append(connection)
                if accepted.count == 4 { listener.invalidate() }
            }
            loop.run(until: "all are connected") { accepted.count == 4 && calls.list.count == 4 }
            #expect(calls.list.sorted() == (0..<4).map { "connected \($0)" })
            for connection in clients + accepted { connection.close() }
            loop.run()
        }
    }

    @Test func `a connection may be closed while it is being made`() throws {
        try onLoopThread { loop in
            for endpoint in [Endpoint.tcp(host: "127.0.0.1", port: 1), .tcp(host: "localhost", port: 1)] {
                let connection = Connection(connectingTo: endpoint)
                let calls = Calls()
                calls.watch(connection)
                try loop.add(connection, forMode: .default)
                connection.close()
                loop.run()
                #expect(calls.list == ["end: \(Connection.EndReason.closed)"])
            }
        }
    }

    @Test func `closing after writing waits for the connection to be made`() throws {
        try onLoopThread { loop in
            let listener = try Listener(.tcp(host: "127.0.0.1", port: 0))
            var received = ""
            try loop.add(listener, forMode: .default) { accepted in
                let connection = Connection(accepted)
                connection.onReceive { _, bytes in
                    received += text(bytes)
                    return bytes.byteCount
                }
                connection.onEnd { _, _ in listener.invalidate() }
                recorded { try loop.add(connection, forMode: .default) }
            }
            let connection = Connection(connectingTo: .address(listener.localAddress))
            connection.write("all of it")
            connection.closeAfterWriting()
            let (reason, wasConnected) = try end(loop, connection)
            #expect(reason == .closed)
            #expect(!wasConnected, "a connection that closes calls no handler but that of its end")
            #expect(received == "all of it")
        }
    }

    @Test func `a connection is made in its mode only`() throws {
        try onLoopThread { loop in
            let listener = try Listener(.tcp(host: "127.0.0.1", port: 0))
            let connection = Connection(connectingTo: .address(listener.localAddress))
            var isConnected = false
            connection.onConnect { _ in isConnected = true }
            let mode = RunLoop.Mode("other")
            try loop.add(connection, forMode: mode)
            loop.pass()
            #expect(!isConnected)
            loop.run(in: mode, until: .now + .seconds(60), returnAfterSourceHandled: true)
            while !isConnected {
                loop.run(in: mode, until: .now + .milliseconds(5), returnAfterSourceHandled: true)
            }
            connection.close()
            loop.run()
            listener.invalidate()
        }
    }
}
