import Glibc
import RunLoops
import Streams
import TLSStreams
import TestExpectations
import TestSupport
import Testing

/// A TLS stream that is cut, changed or slow ends with a cause, and is never mistaken for a complete one.
@Suite struct CutTests {
    private static func isBroken(_ calls: Calls) -> Bool {
        calls.error?.reason == .truncated || calls.reason == .reset
    }

    // Guarantees: A stream that is cut at any byte is not taken for a complete one.
    @Test func `a stream that is cut at any byte is truncated on both sides`() throws {
        try onLoopThread { loop in
            let whole = try Relay(loop)
            try whole.settle()
            #expect(whole.pair.clientCalls.list == ["connected", "answer"])
            let (toServer, toClient) = whole.moved
            whole.cut()
            whole.pair.finish(loop)
            #expect(
                CutTests.isBroken(whole.pair.clientCalls) && CutTests.isBroken(whole.pair.serverCalls))
            for (count, isToServer) in (0..<toServer).map({ ($0, true) })
                + (0..<toClient).map({ ($0, false) })
            {
                let relay = try Relay(loop)
                try relay.settle(
                    toServer: isToServer ? count : .max, toClient: isToServer ? .max : count)
                relay.cut()
                relay.pair.finish(loop)
                #expect(
                    CutTests.isBroken(relay.pair.clientCalls),
                    "\(count): \(relay.pair.clientCalls.reason as Any)")
                #expect(
                    CutTests.isBroken(relay.pair.serverCalls),
                    "\(count): \(relay.pair.serverCalls.reason as Any)")
            }
        }
    }

    // Guarantees: A byte that is changed on its way ends the connection, and is not delivered.
    @Test func `a byte that is changed on its way ends the connection, and is not delivered`() throws {
        try onLoopThread { loop in
            let relay = try Relay(loop)
            try relay.settle()
            relay.pair.server.write("changed\n")
            loop.pass()
            try relay.move(toServer: .max, toClient: .max) { $0[$0.count - 1] ^= 1 }
            relay.pair.clientCalls.list = []
            loop.run(until: "it has ended") { relay.pair.clientCalls.reason != nil }
            #expect(relay.pair.clientCalls.list == ["end"])
            #expect(relay.pair.clientCalls.error?.reason == .other)
            #expect(relay.pair.clientCalls.error?.isFromPeer == false)
            try relay.move(toServer: .max, toClient: .max)
            loop.run(until: "the server has the alert") { relay.pair.serverCalls.reason != nil }
            #expect(relay.pair.serverCalls.error?.isFromPeer == true)
        }
    }

    // Guarantees: A hand-shake that takes longer than the time-out ends the connection.
    @Test func `a hand-shake that goes on byte by byte succeeds, and one that stops times out`()
        throws
    {
        try onLoopThread { loop in
            let slow = try Relay(loop)
            var bytes = (0, 0)
            let end = ContinuousClock.Instant.hang
            while slow.pair.clientCalls.list.count < 2, .now < end {
                bytes = (slow.moved.0 + 1, slow.moved.1 + 1)
                try slow.move(toServer: bytes.0, toClient: bytes.1)
                loop.pass()
            }
            #expect(slow.pair.clientCalls.list == ["connected", "answer"])

            var options = Connection.Options()
            options.connectTimeout = .milliseconds(50)
            let start = ContinuousClock.now
            let stopped = try Relay(loop, options)
            try stopped.move(toServer: 100, toClient: 0)
            stopped.pair.finish(loop)
            #expect(stopped.pair.clientCalls.reason == .timedOut(.connect))
            #expect(stopped.pair.serverCalls.reason == .timedOut(.connect))
            #expect(stopped.pair.clientCalls.list == ["end"])
            #expect(.now - start >= .milliseconds(50))
        }
    }

    @Test(arguments: [
        "GET / HTTP/1.1\r\n\r\n", "\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}", "SSH-2.0-x\r\n",
    ])
    func `bytes that are not TLS end the connection on either side`(text: String) throws {
        try onLoopThread { loop in
            for isServer in [true, false] {
                let ends = try Loopback.pair()
                defer { close(ends.1) }
                let connection =
                    try isServer
                    ? Connection(OwnedDescriptor(ends.0), tls: Certificates.server())
                    : Connection(
                        OwnedDescriptor(ends.0), tls: Certificates.client(), serverName: "localhost")
                let calls = Calls()
                calls.watch(connection)
                _ = try Loopback.write(Array(text.utf8), to: ends.1)
                try loop.add(connection, forMode: .default)
                loop.run(until: "it has ended") { calls.reason != nil }
                #expect(calls.error?.reason == .notTLS, "\(calls.reason as Any)")
                #expect(calls.list == ["end"])
            }
        }
    }

    // Guarantees: No handler is called, and no byte delivered, before the hand-shake has succeeded.
    @Test func `random bytes in place of a hand-shake never connect`() throws {
        try onLoopThread { loop in
            var random = SplitMix64(seed: 3)
            for _ in 0..<300 {
                let ends = try Loopback.pair()
                defer { close(ends.1) }
                let connection = try Connection(OwnedDescriptor(ends.0), tls: Certificates.server())
                let calls = Calls()
                calls.watch(connection)
                var bytes = (0..<Int.random(in: 1...600, using: &random)).map { _ in
                    UInt8.random(in: 0...255, using: &random)
                }
                // Many of these begin like a record of a hand-shake.
                if Bool.random(using: &random) {
                    let header: [UInt8] = [22, 3, 1, UInt8(bytes.count >> 8), UInt8(bytes.count & 255), 1]
                    bytes = header + bytes
                }
                _ = try Loopback.write(bytes, to: ends.1)
                Loopback.endSending(ends.1)
                try loop.add(connection, forMode: .default)
                loop.run(until: "it has ended") { calls.reason != nil }
                #expect(calls.list == ["end"] && calls.error != nil)
            }
        }
    }
}
