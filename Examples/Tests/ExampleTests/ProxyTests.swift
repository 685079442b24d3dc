import Foundation
import Testing

extension Examples {
    /// The proxy, between plain sockets or other programs.
    @Suite struct ProxyTests {
        /// Starts a proxy to a port of this machine, which logs the end of each connection.
        private func proxy(to port: UInt16, _ option: String = "--port", _ value: String = "0") throws
            -> ServerProcess
        {
            try ServerProcess(
                "tcp-proxy", "--to", "127.0.0.1:\(port)", "--port", "0", "--log-ends", "1", option, value)
        }

        @Test func `bytes arrive unchanged both ways, in random chunks with random pauses`() throws {
            let listener = try PeerListener()
            let proxy = try proxy(to: listener.port)
            let client = try Peer(port: proxy.port())
            let server = try listener.accept()
            let count = Examples.count(full: 10 << 30, small: 128 << 20)
            let start = ContinuousClock.now
            let ends = [
                Worker { try Pattern(seed: 1).send(count, to: client, pauses: 2) },
                Worker { try Pattern(seed: 1).receive(on: server, pauses: 3) },
                Worker { try Pattern(seed: 4).send(count, to: server, pauses: 5) },
                Worker { try Pattern(seed: 4).receive(on: client, pauses: 6) },
            ]
            let counts = try ends.map { try $0.join() }
            let seconds = (ContinuousClock.now - start) / .seconds(1)
            #expect(counts == [count, count, count, count])
            let rate = Int(Double(count >> 19) / seconds)
            let memory = try proxy.memory("VmHWM")
            print("proxy: \(count >> 20) MiB each way, \(rate) MiB/s in all, at most \(memory) KiB of memory")
            #expect(memory < 65_536)
            _ = try proxy.errors.line { $0.hasSuffix("client: closed by the peer") }
            _ = try proxy.errors.line { $0.hasSuffix("server: closed by the peer") }
            proxy.signal(SIGTERM)
            #expect(try proxy.end() == 0)
        }

        @Test(arguments: [true, false])
        func `a side that does not read makes the other one wait, and loses nothing`(isServer: Bool) throws {
            let listener = try PeerListener()
            let proxy = try proxy(to: listener.port)
            let client = try Peer(port: proxy.port())
            let server = try listener.accept()
            let (source, target) = isServer ? (client, server) : (server, client)
            let before = try proxy.memory("VmRSS")
            let pattern = Pattern(seed: 7)
            var count = 0
            while let sent = try source.sendSome(pattern.chunk(at: count, of: 1 << 20), milliseconds: 500) {
                count += sent
                if count > 256 << 20 { throw Failure("the source does not have to wait") }
            }
            #expect(try proxy.memory("VmRSS") - before < 4_096, "of KiB, with \(count >> 10) KiB on the way")
            source.endOutput()
            #expect(try pattern.receive(on: target, pauses: nil) == count)
        }

        @Test func `each direction ends on its own`() throws {
            let listener = try PeerListener()
            let proxy = try proxy(to: listener.port)
            let client = try Peer(port: proxy.port())
            let server = try listener.accept()
            try client.send("question\n")
            client.endOutput()
            #expect(try server.line() == "question")
            #expect(try server.line() == nil)
            try server.send("answer\n")
            #expect(try client.line() == "answer")
            server.close()
            #expect(try client.line() == nil)
            _ = try proxy.errors.line { $0.hasSuffix("client: closed by the peer") }
            _ = try proxy.errors.line { $0.hasSuffix("server: closed by the peer") }
        }

        @Test func `a reset of one side closes the other one`() throws {
            let listener = try PeerListener()
            let proxy = try proxy(to: listener.port)
            let client = try Peer(port: proxy.port())
            let server = try listener.accept()
            try client.send("hello\n")
            #expect(try server.line() == "hello")
            client.reset()
            _ = try server.drain()
            _ = try proxy.errors.line { $0.hasSuffix("client: reset by the peer") }
            _ = try proxy.errors.line { $0.hasSuffix("server: closed on this side") }
        }

        @Test func `a server that refuses connections closes the client`() throws {
            let port = try PeerListener().port
            let proxy = try proxy(to: port)
            let client = try Peer(port: proxy.port())
            _ = try client.drain()
            _ = try proxy.errors.line { $0.contains("server: ") && $0.contains("\(ECONNREFUSED)") }
        }

        @Test func `a server that is killed ends the client's connection`() throws {
            let server = try ServerProcess("chat-server", "--port", "0")
            let proxy = try proxy(to: server.port())
            let client = try Peer(port: proxy.port())
            #expect(try client.line()?.hasPrefix("* Welcome") == true)
            server.signal(SIGKILL)
            #expect(try server.end() == -SIGKILL)
            _ = try client.drain()
            client.close()
            _ = try proxy.errors.line { $0.contains("server: closed by the peer") }
            _ = try proxy.errors.line { $0.contains("client: closed by the peer") }
        }

        @Test func `a client that is killed ends the server's connection`() throws {
            let server = try ServerProcess("chat-server", "--port", "0")
            // For the server, the proxy is a client.
            let client = try proxy(to: server.port())
            let peer = try Peer(port: client.port())
            #expect(try peer.line()?.hasPrefix("* Welcome") == true)
            client.signal(SIGKILL)
            #expect(try client.end() == -SIGKILL)
            _ = try peer.drain()
            _ = try server.errors.line { $0.hasPrefix("1: ") && $0.hasSuffix("closed by the peer") }
        }

        @Test func `a server that is stopped by SIGSTOP is given up after the time-out`() throws {
            let server = try ServerProcess("chat-server", "--port", "0")
            let proxy = try proxy(to: server.port(), "--write-timeout", "1")
            let client = try Peer(port: proxy.port())
            #expect(try client.line()?.hasPrefix("* Welcome") == true)
            try server.suspend()
            let line = ArraySlice(repeatElement(UInt8(ascii: "x"), count: 1 << 20))
            var isOpen = true
            while isOpen {
                do { _ = try client.sendSome(line, milliseconds: 30_000) } catch { isOpen = false }
            }
            _ = try proxy.errors.line { $0.hasSuffix("server: the peer has not read for too long") }
            _ = try proxy.errors.line { $0.hasSuffix("client: closed on this side") }
        }

        @Test func `a client that is stopped by SIGSTOP is disconnected at its limit`() throws {
            let server = try ServerProcess("chat-server", "--port", "0", "--output-limit", "100000")
            let client = try proxy(to: server.port())
            let behind = try Peer(port: client.port())
            #expect(try behind.line()?.hasPrefix("* Welcome, number 1.") == true)
            let author = try Peer(port: server.port())
            #expect(try author.line()?.hasPrefix("* Welcome, number 2.") == true)
            try client.suspend()
            let line = String(repeating: "x", count: 4_000)
            // The kernel stores some megabytes for the suspended client before the server does.
            for _ in 0..<10_000 where !server.errors.all.contains(where: { $0.hasPrefix("1: ") }) {
                try author.send("\(line)\n")
                #expect(try author.line()?.hasSuffix(line) == true)
            }
            let end = try server.errors.line { $0.hasPrefix("1: ") }
            #expect(end.hasSuffix("more than 100000 bytes that the peer has not read"))
        }

        @Test func `out of descriptors, clients are refused or wait, and are served later`() throws {
            let server = try ServerProcess("chat-server", "--port", "0")
            let proxy = try ServerProcess(
                "tcp-proxy", "--to", "127.0.0.1:\(server.port())", "--port", "0", "--log-ends", "1",
                descriptors: 32)
            let port = try proxy.port()
            let first = try Peer(port: port)
            #expect(try first.line()?.hasPrefix("* Welcome") == true)
            let clients = try (0..<20).map { _ in try Peer(port: port) }
            _ = try proxy.errors.line { $0.contains("Too many open files") }
            // Existing connections still work.
            try first.send("hello\n")
            #expect(try first.line() == "1> hello")
            for client in clients { client.reset() }
            // After the proxy has seen the resets, a client is served again.
            try wait(until: "a client is served") {
                try Peer(port: port).line()?.hasPrefix("* Welcome") == true
            }
        }
    }
}
