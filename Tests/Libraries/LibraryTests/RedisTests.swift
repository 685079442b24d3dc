import RunLoops
import Testing

/// hiredis on `LibrarySource`s, with a Redis server on a socket of its own.
@Suite(.serialized) struct RedisTests {
    private let network = RunLoop.Mode("com.example.network")

    /// Runs the body on a loop, with a server, which ends even if the body hangs.
    private func withServer(_ body: @escaping @Sendable (RunLoop, RedisServer) throws -> Void) throws {
        // The body's thread uses the server. This thread uses it again after that thread has finished, or has been given up.
        nonisolated(unsafe) let server = try RedisServer()
        try server.start()
        try onLoopThread { loop in try body(loop, server) }
        try server.end()
    }

    @Test func `requests in a row are answered in their order`() throws {
        try withServer { [network] loop, server in
            let client = try RedisClient(path: server.path, forMode: network)
            var answers: [String] = []
            for number in 0..<500 {
                client.send(["SET", "key\(number)", "value\(number)"]) { #expect($0 == ["OK"]) }
                client.send(["GET", "key\(number)"]) { answers += $0 ?? ["lost"] }
            }
            loop.run(in: network, until: "all are answered") { answers.count == 500 }
            #expect(answers == (0..<500).map { "value\($0)" })
            client.close()
            #expect(loop.run(in: network, until: .hang) == .finished)
        }
    }

    @Test func `a subscriber gets each message, in order`() throws {
        try withServer { [network] loop, server in
            let subscriber = try RedisClient(path: server.path, forMode: network)
            let publisher = try RedisClient(path: server.path, forMode: network)
            var messages: [String] = []
            subscriber.send(["SUBSCRIBE", "news"]) { parts in
                if parts?.first == "message" { messages.append(parts?.last ?? "") }
                if parts?.first != "subscribe" { return }
                for number in 0..<200 {
                    publisher.send(["PUBLISH", "news", "\(number)"]) { #expect($0 == ["1"]) }
                }
            }
            loop.run(in: network, until: "all messages come") { messages.count == 200 }
            #expect(messages == (0..<200).map { "\($0)" })
            for client in [subscriber, publisher] { client.close() }
            #expect(loop.run(in: network, until: .hang) == .finished)
        }
    }

    @Test func `a client connects again to a server that was killed, and loses no answer silently`() throws {
        try withServer { [network] loop, server in
            let client = try RedisClient(path: server.path, forMode: network)
            for round in 1...3 {
                loop.run(in: network, until: "it is connected") { client.connections == round }
                var pong: [String]?
                client.send(["PING"]) { pong = $0 }
                loop.run(in: network, until: "it answers") { pong == ["PONG"] }
                if round == 3 { break }
                // A request that never gets a reply is answered at the end of the connection.
                var isLost = false
                client.send(["BLPOP", "nothing", "0"]) { isLost = $0 == nil }
                loop.run(in: network, until: .now)
                server.kill()
                loop.run(in: network, until: "the request is lost") { isLost }
                // Attempts to connect fail meanwhile.
                loop.run(in: network, until: .now + .milliseconds(30))
                try server.start()
            }
            client.close()
            #expect(loop.run(in: network, until: .hang) == .finished)
        }
    }

    @Test func `a handler closes its client, and a run inside a handler serves another one`() throws {
        try withServer { [network] loop, server in
            let inner = RunLoop.Mode("com.example.private")
            let client = try RedisClient(path: server.path, forMode: network)
            var log: [String] = []
            client.send(["PING"]) { answer in
                log += answer ?? []
                do {
                    let other = try RedisClient(path: server.path, forMode: inner)
                    other.send(["ECHO", "inside"]) { answer in
                        log += answer ?? []
                        other.close()
                    }
                    #expect(loop.run(in: inner, until: .hang) == .finished)
                } catch {
                    Issue.record(error)
                }
                client.close()
                log.append("closed")
            }
            client.send(["BLPOP", "nothing", "0"]) { log.append($0 == nil ? "cancelled" : "answered") }
            #expect(loop.run(in: network, until: .hang) == .finished)
            #expect(log.prefix(2) == ["PONG", "inside"])
            #expect(Set(log.dropFirst(2)) == ["closed", "cancelled"])
        }
    }

    @Test func `a thread that ends with a living client frees it on that thread`() throws {
        try withServer { _, server in
            let thread = try RunLoopThread(name: "network")
            let worker = thread.runLoop
            let log = Log()
            let (path, answered) = (server.path, Gate())
            try worker.performAndWait {
                let client = try RedisClient(path: path, forMode: .default)
                client.send(["PING"]) { _ in answered.open() }
                client.send(["BLPOP", "nothing", "0"]) { log.add("\($0 == nil) \(worker.isCurrent)") }
            }
            #expect(answered.wait())
            thread.stop()
            #expect(thread.join(before: .hang))
            #expect(log.entries == ["true true"])
        }
    }
}
