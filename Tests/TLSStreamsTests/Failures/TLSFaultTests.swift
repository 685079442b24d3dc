import Glibc
import RunLoops
import Streams
import TLSStreams
import TestExpectations
import TestSupport
import Testing

/// Refused system calls below TLS, and crowds of hand-shakes that stop.
@Suite struct TLSFaultTests {
    private static let refusals: [(Faults.Call, CInt)] = [
        (.recv, ECONNRESET), (.recv, ETIMEDOUT), (.recv, ENOBUFS), (.send, EPIPE), (.send, ECONNRESET),
        (.send, ENOBUFS),
    ]

    /// The reason that a refused system call stands for.
    private func reason(_ call: Faults.Call, _ code: CInt) -> Connection.EndReason {
        let isReset = code == ECONNRESET || code == ETIMEDOUT || code == EPIPE
        return isReset ? .reset : .failed(SystemError(call: call == .recv ? "recv" : "send", code: code))
    }

    @Test func `interrupted calls are repeated, in the hand-shake and afterwards`() throws {
        try onLoopThread { loop in
            let pair = try SecurePair()
            interrupted(.recv) { interrupted(.send) { recorded { try pair.connect(loop) } } }
            pair.takeTickets(loop)
            pair.client.write("line\n")
            interrupted(.recv) { interrupted(.send) { loop.settle() } }
            #expect(pair.serverCalls.list == ["connected", "line"])
            #expect(pair.clientCalls.reason == nil && pair.serverCalls.reason == nil)
        }
    }

    @Test(arguments: TLSFaultTests.refusals)
    func `a refused call in the hand-shake ends the connection with its reason`(call: Faults.Call, code: CInt)
        throws
    {
        try onLoopThread { loop in
            let ends = try Loopback.pair()
            defer { Loopback.close(ends.1) }
            let connection = try Connection(
                OwnedDescriptor(ends.0), tls: Certificates.client(), serverName: "localhost")
            let calls = Calls()
            calls.watch(connection)
            if call == .send { Faults.refuse(.send, code) }
            try loop.add(connection, forMode: .default)
            loop.settle()
            if call == .recv {
                #expect(calls.reason == nil)
                Faults.refuse(.recv, code)
                _ = try Loopback.write([22, 3, 3], to: ends.1)
                loop.settle()
            }
            #expect(calls.reason == reason(call, code))
            #expect(calls.list == ["end"])
        }
    }

    @Test(arguments: TLSFaultTests.refusals)
    func `a refused call ends an open connection with its reason, after the earlier bytes`(
        call: Faults.Call, code: CInt
    ) throws {
        try onLoopThread { loop in
            let pair = try SecurePair()
            try pair.connect(loop)
            pair.takeTickets(loop)
            pair.client.write("first\n")
            loop.settle()
            // The client sends, and then the server receives.
            Faults.refuse(call, code)
            pair.client.write("second\n")
            loop.settle()
            let calls = call == .send ? pair.clientCalls : pair.serverCalls
            #expect(calls.reason == reason(call, code))
            #expect(pair.serverCalls.list.starts(with: ["connected", "first"]))
            #expect(!pair.serverCalls.list.contains("second"))
            pair.client.close()
            pair.server.close()
        }
    }

    /// The clients of the crowd begin a hand-shake like honest clients, and then send nothing.
    // Guarantees: A hand-shake that takes longer than the time-out ends the connection.
    @Test func `a crowd of hand-shakes that stop keeps no client waiting, and ends with the time`() throws {
        try onLoopThread { loop in
            let context = try Certificates.server()
            let listener = try Listener(.tcp(host: "127.0.0.1", port: 0))
            let port = try #require(listener.localAddress.port)
            let crowd = 100
            var served: [(connection: Connection, calls: Calls)] = []
            try loop.add(listener, forMode: .default) { accepted in
                var options = Connection.Options()
                if served.count < crowd { options.connectTimeout = .milliseconds(300) }
                let connection = Connection(accepted, tls: context, options: options)
                let calls = Calls()
                calls.watch(connection)
                served.append((connection, calls))
                recorded { try loop.add(connection, forMode: .default) }
            }
            let start = ContinuousClock.now
            let sockets = try (0..<crowd).map { _ in try Loopback.connect(to: port) }
            defer { for socket in sockets { Loopback.close(socket) } }
            loop.run(until: "the crowd is there") { served.count == crowd }
            let beginning: [UInt8] = [22, 3, 1, 2, 0, 1, 0, 1, 252, 3, 3]
            for socket in sockets { _ = try Loopback.write(beginning, to: socket) }
            let client = try Connection(
                connectingTo: .tcp(host: "localhost", port: port), tls: Certificates.client())
            let calls = Calls()
            calls.watch(client)
            client.write("hello\n")
            try loop.add(client, forMode: .default)
            loop.run(until: "the client is served") { served.last?.calls.list == ["connected", "hello"] }
            loop.run(until: "the crowd has ended") {
                served.dropLast().allSatisfy { $0.calls.reason == .timedOut(.connect) }
            }
            #expect(.now - start >= .milliseconds(300))
            #expect(calls.reason == nil && served.last?.calls.reason == nil)
            client.close()
            served.last?.connection.close()
            listener.invalidate()
        }
    }
}
