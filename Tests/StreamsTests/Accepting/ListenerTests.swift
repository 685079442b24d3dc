import Glibc
import RunLoops
import Streams
import TestExpectations
import TestSupport
import Testing

/// Connections are accepted on the loop, within the limits, from every kind of address.
@Suite struct ListenerTests {
    /// A loop with a listener that answers each line, and records of the connections.
    private final class Server {
        let loop: RunLoop
        let listener: Listener
        var connections: [Connection] = []
        var ends: [Connection.EndReason] = []

        init(_ loop: RunLoop, _ address: Listener.Address, _ options: Listener.Options = .init()) throws {
            self.loop = loop
            listener = try Listener(address, options: options)
            try loop.add(listener, forMode: .default) { [self] accepted in
                let connection = Connection(accepted)
                connection.onFrame(.lines()) { connection, line in
                    connection.write(line)
                    connection.write("\n")
                }
                connection.onEnd { [self] connection, reason in
                    ends.append(reason)
                    connections.removeAll { $0 === connection }
                }
                recorded { try loop.add(connection, forMode: .default) }
                connections.append(connection)
            }
        }

        /// Runs the loop until a condition holds.
        func run(until what: String, _ holds: () -> Bool) { loop.run(until: what, holds) }
    }

    private func takes(_ box: AcceptedSocket.Box) -> Bool {
        switch box.take() {
        case .some: true
        case nil: false
        }
    }

    /// Connects with a `Connection`, sends a line, and expects the same line.
    private func echo(_ loop: RunLoop, _ endpoint: Endpoint) throws -> SocketAddress? {
        let client = Connection(connectingTo: endpoint)
        var answer = ""
        var peer: SocketAddress?
        client.onConnect { peer = $0.peerAddress }
        client.onFrame(.lines()) { connection, line in
            answer = text(line)
            connection.close()
        }
        var reason: Connection.EndReason?
        client.onEnd { reason = $1 }
        client.write("hello\n")
        try loop.add(client, forMode: .default)
        let end = ContinuousClock.Instant.hang
        while reason == nil {
            loop.run(in: .default, until: .now + .milliseconds(5), returnAfterSourceHandled: true)
            try #require(ContinuousClock.now < end)
        }
        #expect(answer == "hello")
        #expect(reason == .closed)
        return peer
    }

    @Test func `each kind of address takes connections`() throws {
        try onLoopThread { loop in
            let four = try Server(loop, .tcp(host: "127.0.0.1", port: 0))
            let fourPort = try #require(four.listener.localAddress.port)
            #expect(try echo(loop, .tcp(host: "127.0.0.1", port: fourPort))?.port == fourPort)
            let all = try Server(loop, .tcp(port: 0))
            let port = try #require(all.listener.localAddress.port)
            #expect(try echo(loop, .tcp(host: "127.0.0.1", port: port)) != nil)
            if all.listener.localAddress.host == "::" {
                #expect(try echo(loop, .tcp(host: "::1", port: port))?.host == "::1")
                let six = try Server(loop, .tcp(host: "::1", port: 0))
                let sixPort = try #require(six.listener.localAddress.port)
                #expect(try echo(loop, .tcp(host: "::1", port: sixPort)) != nil)
                six.listener.invalidate()
            }
            #expect(try echo(loop, .tcp(host: "localhost", port: port)) != nil)
            let scratch = try ScratchDirectory()
            let path = scratch.path + "/server"
            let unix = try Server(loop, .unix(path: path))
            #expect(unix.listener.localAddress.path == path)
            #expect(try echo(loop, .unix(path: path))?.path == path)
            let name = "run-loops-test-\(getpid())-\(UInt64.random(in: 0 ... .max))"
            let abstract = try Server(loop, .abstract(name: name))
            #expect(try echo(loop, .address(try #require(SocketAddress(abstractName: name)))) != nil)
            #expect(try echo(loop, .abstract(name: name))?.abstractName == name)
            for server in [four, all, unix, abstract] {
                server.run(until: "all have ended") { server.connections.isEmpty }
                server.listener.invalidate()
            }
            #expect(unsafe access(path, F_OK) == -1, "the file is removed")
        }
    }

    // Guarantees: The file of a listener that has ended is replaced, and the file of a listener that is open is not.
    @Test func `the file of a listener that is no more is replaced, and that of a living one is not`() throws
    {
        try onLoopThread { loop in
            let scratch = try ScratchDirectory()
            let path = scratch.path + "/server"
            let first = try Listener(.unix(path: path))
            #expect { _ = try Listener(.unix(path: path)) } throws: {
                ($0 as? SystemError)?.code == EADDRINUSE
            }
            // The duplicate keeps the file. It is closed at once, and then no socket listens at the file.
            _ = try first.duplicateSocket()
            first.invalidate()
            #expect(unsafe access(path, F_OK) == 0)
            let second = try Server(loop, .unix(path: path))
            #expect(try echo(loop, .unix(path: path)) != nil)
            second.listener.invalidate()
            #expect(unsafe access(path, F_OK) == -1)
        }
    }

    // Guarantees: If several replace it at once, one succeeds.
    @Test func `of several listeners that replace the same file, one succeeds, and clients reach it`() throws
    {
        let scratch = try ScratchDirectory()
        for round in 0..<200 {
            let path = scratch.path + "/\(round)"
            do {
                let ended = try Listener(.unix(path: path))
                // The duplicate keeps the file, as if a process had been killed.
                _ = try ended.duplicateSocket()
                ended.invalidate()
            }
            let start = Gate()
            let sockets = Guarded<[CInt]>([])
            let threads = try Threads(3) { _ in
                try #require(start.wait())
                let listener: Listener
                do { listener = try Listener(.unix(path: path)) } catch {
                    try #require((error as? SystemError)?.code == EADDRINUSE)
                    return
                }
                // The duplicate keeps listening until all threads have tried.
                let socket = try listener.duplicateSocket().release()
                sockets.withLock { $0.append(socket) }
            }
            start.open()
            try threads.join()
            let listening = sockets.withLock { $0 }
            #expect(listening.count == 1, "round \(round)")
            try onLoopThread { loop in
                let client = Connection(connectingTo: .unix(path: path))
                var isConnected = false
                client.onConnect { _ in isConnected = true }
                try loop.add(client, forMode: .default)
                loop.run(until: "the client is connected") { isConnected }
                client.close()
            }
            for socket in listening { close(socket) }
        }
    }

    @Test func `a file that is no socket is left where it is`() throws {
        let path = try ScratchDirectory().path + "/data"
        let file = unsafe open(path, O_CREAT | O_WRONLY, 0o600)
        close(file)
        #expect { _ = try Listener(.unix(path: path)) } throws: { ($0 as? SystemError)?.code == EADDRINUSE }
        #expect(unsafe access(path, F_OK) == 0)
    }

    @Test func `a full listener that is removed and added again accepts when there is room`() throws {
        try onLoopThread { loop in
            let listener = try Listener(
                .tcp(host: "127.0.0.1", port: 0),
                options: {
                    var options = Listener.Options()
                    options.connectionLimit = 1
                    return options
                }())
            var accepted: [AcceptedSocket.Box] = []
            try loop.add(listener, forMode: .default) { accepted.append($0.boxed()) }
            let port = try #require(listener.localAddress.port)
            let clients = try (0..<2).map { _ in try Loopback.connect(to: port) }
            defer { for client in clients { close(client) } }
            loop.settle()
            #expect(accepted.count == 1)
            loop.remove(listener, forMode: .default)
            #expect(takes(accepted[0]))
            try loop.add(listener, forMode: .default) { accepted.append($0.boxed()) }
            loop.settle()
            #expect(accepted.count == 2)
            listener.invalidate()
        }
    }

    @Test func `a place that cannot be listened at is an error that names it`() throws {
        let taken = try Listener(.tcp(host: "127.0.0.1", port: 0))
        let port = try #require(taken.localAddress.port)
        #expect { _ = try Listener(.tcp(host: "127.0.0.1", port: port)) } throws: { error in
            (error as? SystemError)?.code == EADDRINUSE && "\(error)".contains("127.0.0.1:\(port)")
        }
        for name in ["no.address", "localhost", ""] {
            let says =
                "\(name):0 (\(name) is not a numeric address; use one of this machine, such as 127.0.0.1 or ::1)"
            #expect { _ = try Listener(.tcp(host: name, port: 0)) } throws: { error in
                (error as? SystemError)?.code == EADDRNOTAVAIL && "\(error)".contains(says)
            }
        }
        #expect { _ = try Listener(.tcp(host: "192.0.2.1", port: 0)) } throws: { error in
            (error as? SystemError)?.code == EADDRNOTAVAIL && !"\(error)".contains("numeric")
        }
        let long = String(repeating: "x", count: 200)
        #expect { _ = try Listener(.unix(path: long)) } throws: { ($0 as? SystemError)?.code == ENAMETOOLONG }
        #expect { _ = try Listener(OwnedDescriptor.eventDescriptor()) } throws: {
            ($0 as? SystemError)?.code == EPROTOTYPE
        }
    }

    @Test func `several listeners may share a port if they say so`() throws {
        var options = Listener.Options()
        options.reusesPort = true
        let first = try Listener(.tcp(host: "127.0.0.1", port: 0), options: options)
        let port = try #require(first.localAddress.port)
        let second = try Listener(.tcp(host: "127.0.0.1", port: port), options: options)
        #expect(second.localAddress == first.localAddress)
    }

    // Guarantees: At the limit of connections, the listener accepts no more until one of them ends.
    @Test func `at the limit of connections the others wait until one ends`() throws {
        try onLoopThread { loop in
            var options = Listener.Options()
            options.connectionLimit = 2
            let server = try Server(loop, .tcp(host: "127.0.0.1", port: 0), options)
            let port = try #require(server.listener.localAddress.port)
            let clients = try (0..<4).map { _ in try Loopback.connect(to: port) }
            defer { for client in clients[1...] { close(client) } }
            server.run(until: "two are accepted") { server.connections.count == 2 }
            loop.settle()
            #expect(server.connections.count == 2)
            #expect(server.listener.connectionCount == 2)
            close(clients[0])
            server.run(until: "a third one is accepted") {
                server.ends.count == 1 && server.connections.count == 2
            }
            #expect(server.listener.statistics.accepted == 3)
            #expect(server.listener.statistics.timesFull == 2)
            // The program closes a connection, which makes room, too.
            let moved = server.connections[0]
            moved.close()
            server.run(until: "the fourth one is accepted") { server.listener.statistics.accepted == 4 }
            server.listener.invalidate()
        }
    }

    // Guarantees: A peer that has as many connections as it may have is refused, and other peers are not.
    @Test func `a peer beyond its limit is refused, and others are not`() throws {
        try onLoopThread { loop in
            var options = Listener.Options()
            options.connectionLimitPerPeer = 2
            let server = try Server(loop, .tcp(port: 0), options)
            let port = try #require(server.listener.localAddress.port)
            let clients = try (0..<3).map { _ in try Loopback.connect(to: port) }
            defer { for client in clients { close(client) } }
            server.run(until: "one is refused") { server.listener.statistics.refusedPeers == 1 }
            #expect(server.connections.count == 2)
            if server.listener.localAddress.host == "::" {
                #expect(try echo(loop, .tcp(host: "::1", port: port)) != nil, "another address")
            }
            server.listener.invalidate()
        }
    }

    @Test func `an accepted socket can be sent to another loop`() throws {
        let worker = try RunLoopThread(name: "worker")
        let ended = Gate()
        try onLoopThread { loop in
            let listener = try Listener(.tcp(host: "127.0.0.1", port: 0))
            let port = Port<AcceptedSocket.Box>()
            worker.runLoop.perform {
                RunLoop.current.add(port, forMode: .default) { box in
                    guard let accepted = box.take() else { return }
                    let connection = Connection(accepted)
                    connection.onFrame(.lines()) { connection, line in
                        connection.write("from \(RunLoop.current.name)\n")
                    }
                    connection.onEnd { _, _ in ended.open() }
                    recorded { try RunLoop.current.add(connection, forMode: .default) }
                }
            }
            try loop.add(listener, forMode: .default) { accepted in
                let box = accepted.boxed()
                recorded { try port.send(box) }
            }
            let client = Connection(connectingTo: .address(listener.localAddress))
            var answer = ""
            client.onFrame(.lines()) { connection, line in
                answer = text(line)
                listener.invalidate()
                connection.close()
            }
            client.write("who\n")
            try loop.add(client, forMode: .default)
            loop.run()
            #expect(answer == "from worker")
        }
        #expect(ended.wait())
        worker.stop()
        worker.join()
    }

    @Test func `an accepted socket is passed to another loop, and counts until its connection ends`() throws {
        let group = try RunLoopThreadGroup(count: 2, name: "worker")
        try onLoopThread { loop in
            let listener = try Listener(.tcp(host: "127.0.0.1", port: 0))
            try loop.add(listener, forMode: .default) { accepted in
                accepted.perform(on: group.next()) { accepted in
                    let connection = Connection(accepted)
                    connection.onFrame(.lines()) { connection, line in
                        connection.write(
                            "\(RunLoop.current.name) got \(String(decoding: line, as: UTF8.self))\n")
                    }
                    recorded { try RunLoop.current.add(connection, forMode: .default) }
                }
            }
            var answers: [String] = []
            let clients = try (0..<2).map { number in
                let client = Connection(connectingTo: .address(listener.localAddress))
                client.onFrame(.lines()) { connection, line in
                    answers.append(String(decoding: line, as: UTF8.self))
                }
                client.write("line \(number)\n")
                try loop.add(client, forMode: .default)
                loop.run(until: "the answer to \(number)") { answers.count == number + 1 }
                return client
            }
            #expect(answers == ["worker 0 got line 0", "worker 1 got line 1"])
            #expect(listener.connectionCount == 2)
            for client in clients { client.close() }
            loop.run(until: "the connections end") { listener.connectionCount == 0 }
            listener.invalidate()
        }
        group.stop()
        group.join()
    }

    @Test func `a socket that is passed to a loop that has ended is closed`() throws {
        let thread = try RunLoopThread(name: "ended")
        thread.stop()
        thread.join()
        try onLoopThread { loop in
            let listener = try Listener(.tcp(host: "127.0.0.1", port: 0))
            try loop.add(listener, forMode: .default) { accepted in
                accepted.perform(on: thread.runLoop) { _ in Issue.record("the loop has ended") }
            }
            let client = try Loopback.connect(to: try #require(listener.localAddress.port))
            defer { close(client) }
            loop.settle()
            #expect(listener.connectionCount == 0)
            #expect(try Loopback.read(client) == [])
            listener.invalidate()
        }
    }

    // Guarantees: An accepted socket that is not taken is closed.
    @Test func `a socket in a box is taken once, and closed if it is not taken`() throws {
        try onLoopThread { loop in
            let listener = try Listener(.tcp(host: "127.0.0.1", port: 0))
            var boxes: [AcceptedSocket.Box] = []
            try loop.add(listener, forMode: .default) { boxes.append($0.boxed()) }
            let client = try Loopback.connect(to: try #require(listener.localAddress.port))
            defer { close(client) }
            loop.settle()
            #expect(listener.connectionCount == 1)
            #expect(takes(boxes[0]))
            #expect(!takes(boxes[0]))
            #expect(listener.connectionCount == 0)
            loop.settle()
            #expect(try Loopback.read(client) == [])
            listener.invalidate()
            #expect(!listener.isValid)
        }
    }

    // Guarantees: If the process is out of descriptors, connections that wait are closed, and the listener accepts again when there
    // are descriptors again.
    @Test func `out of descriptors, those that wait are closed, and accepting goes on later`() async {
        await #expect(processExitsWith: .success) {
            try onLoopThread { loop in
                let server = try Server(loop, .tcp(host: "127.0.0.1", port: 0))
                var errors: [CInt] = []
                server.listener.onPause { _, error in errors.append(error.code) }
                let port = try #require(server.listener.localAddress.port)
                loop.settle()
                let clients = try (0..<3).map { _ in try Loopback.connect(to: port) }
                try limitDescriptors(to: Int(clients[2]) + 1)
                server.run(until: "it pauses") { !errors.isEmpty }
                try #require(errors == [EMFILE])
                try #require(server.listener.statistics.refusedForDescriptors == 3)
                try #require(server.listener.statistics.pauses == 1)
                for client in clients {
                    try #require(try Loopback.read(client) == [])
                    close(client)
                }
                let again = try Loopback.connect(to: port)
                try limitDescriptors(to: 900)
                server.run(until: "it accepts again") { server.connections.count == 1 }
                close(again)
                server.run(until: "it ends") { server.ends.count == 1 }
                server.listener.invalidate()
            }
        }
    }

    /// Adding a listener again releases its handler, and that can destroy an object that uses the listener.
    @Test func `an object of a replaced handler may invalidate the listener when it is destroyed`() throws {
        try onLoopThread { loop in
            let listener = try Listener(.tcp(host: "127.0.0.1", port: 0))
            try loop.add(listener, forMode: .default) { [parting = Parting { listener.invalidate() }] _ in
                parting.hold()
            }
            try loop.add(listener, forMode: .default) { _ in }
            #expect(!listener.isValid)
            #expect(loop.run(in: .default, until: .hang) == .finished)
        }
    }

    /// Setting a handler releases the one before it, and that can destroy an object that uses the listener.
    @Test func `an object of a replaced handler may set that handler when it is destroyed`() throws {
        let listener = try Listener(.tcp(host: "127.0.0.1", port: 0))
        let isDestroyed = Shared()
        listener.onPause {
            [
                parting = Parting {
                    isDestroyed.increment(); listener.onPause { _, _ in }
                }
            ] _, _ in parting.hold()
        }
        listener.onPause { _, _ in }
        #expect(isDestroyed.count == 1)
        listener.invalidate()
    }
}
