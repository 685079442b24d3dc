import CFaults
import Glibc
import RunLoops
import Streams
import Synchronization
import TLSStreams
import TestExpectations
import TestSupport
import Testing

/// A peer that sends what costs this side more than the peer is cut off, and keeps no other input waiting.
@Suite struct FloodTests {
    /// The bytes that can be under way in the kernel when the connection is closed.
    private static let underWay = 2 << 20

    /// Lets a peer send records to a connection, and runs the loop until the connection has ended.
    ///
    /// - Returns: The number of bytes that the peer has sent before it was cut off.
    private func flood(
        _ flood: faults_tls_flood, count: Int, _ loop: RunLoop, _ calls: Calls, isClient: Bool = false,
        smallBuffer: Bool = false, eachPass: () -> Void = {}, change: (Connection) -> Void = { _ in }
    ) throws -> Int {
        let ends = try Loopback.pair()
        if smallBuffer { Loopback.limitSendBuffer(of: ends.0) }
        let connection =
            isClient
            ? try Connection(OwnedDescriptor(ends.0), tls: Certificates.client(), serverName: "localhost")
            : try Connection(OwnedDescriptor(ends.0), tls: Certificates.server())
        calls.watch(connection)
        change(connection)
        try loop.add(connection, forMode: .default)
        let sent = Shared(-1)
        let (certificate, key) = (Certificates.path("server.pem"), Certificates.path("server.key"))
        let peer = ends.1
        let thread = try BareThread {
            // Safe: the C function reads the paths during the call.
            let count = unsafe faults_flood_tls(peer, flood, count, certificate, key)
            sent.value.store(count, ordering: .releasing)
        }
        while calls.reason == nil {
            loop.run(in: .default, until: .now + .seconds(60), returnAfterSourceHandled: true)
            eachPass()
        }
        thread.join()
        Loopback.close(peer)
        return sent.count
    }

    private func expectCutOff(_ calls: Calls, _ sent: Int, _ place: Testing.SourceLocation = #_sourceLocation)
    {
        #expect(calls.error?.reason == .other && calls.error?.isFromPeer == false, sourceLocation: place)
        #expect(
            calls.error?.details.contains("65536 bytes of records without data") == true,
            sourceLocation: place)
        #expect(sent >= 0 && sent < FloodTests.underWay, sourceLocation: place)
    }

    // Guarantees: A peer that sends only records without data, or does not read the answers to them, is cut off.
    @Test func `a client that only updates its keys is cut off`() throws {
        try onLoopThread { loop in
            let calls = Calls()
            let sent = try flood(faults_tls_key_updates, count: 200_000, loop, calls)
            expectCutOff(calls, sent)
        }
    }

    // Guarantees: A peer that sends only records without data, or does not read the answers to them, is cut off.
    @Test func `a server that only sends tickets is cut off`() throws {
        try onLoopThread { loop in
            let calls = Calls()
            let sent = try flood(faults_tls_tickets, count: 20_000, loop, calls, isClient: true)
            expectCutOff(calls, sent)
        }
    }

    @Test func `a server that only asks for new hand-shakes is cut off`() throws {
        try onLoopThread { loop in
            let calls = Calls()
            let sent = try flood(faults_tls_hello_requests, count: 200_000, loop, calls, isClient: true)
            #expect(calls.reason != nil && calls.reason != .peerClosed)
            #expect(sent < FloodTests.underWay)
        }
    }

    // Guarantees: A peer that sends only records without data, or does not read the answers to them, is cut off.
    @Test func `answers that a peer provokes and does not read end the connection at a limit`() throws {
        try onLoopThread { loop in
            let calls = Calls()
            let sent = try flood(
                faults_tls_asked_key_updates, count: 200_000, loop, calls, smallBuffer: true,
                change: { $0.onReceive { _, bytes in bytes.byteCount } })
            #expect(calls.reason == .limit(.output(16_384)))
            #expect(sent >= 0 && sent < FloodTests.underWay)
        }
    }

    /// A client's hello that announces 60,000 bytes is refused after 16 KiB, in whatever records it comes.
    @Test(arguments: [1, 16_384]) func `a hello that is too long is refused before it is complete`(
        record: Int
    ) throws {
        try onLoopThread { loop in
            let ends = try Loopback.pair()
            let connection = try Connection(OwnedDescriptor(ends.0), tls: Certificates.server())
            let calls = Calls()
            calls.watch(connection)
            try loop.add(connection, forMode: .default)
            let peer = ends.1
            // The kernel would take no more than the connection has room for, and the rest would be lost.
            try #require(fcntl(peer, F_SETFL, 0) == 0)
            let thread = try BareThread {
                // The header of a message of type 1, with its length.
                var rest: ArraySlice<UInt8> = [1, 0, 0xea, 0x60] + [UInt8](repeating: 0, count: 60_000)
                while !rest.isEmpty {
                    let part = rest.prefix(record)
                    rest = rest.dropFirst(part.count)
                    let header: [UInt8] = [22, 3, 1, UInt8(part.count >> 8), UInt8(part.count & 0xff)]
                    do { _ = try Loopback.write(header + part, to: peer) } catch { return }
                }
            }
            loop.run(in: .default, until: .hang)
            #expect(calls.error?.details == "the peer has sent more bytes than a hand-shake takes")
            thread.join()
            Loopback.close(peer)
        }
    }

    /// One hello for a large group of DHE would take 100 ms.
    @Test(arguments: ["ffdhe2048", "ffdhe8192"]) func `a client that offers only a group of DHE is refused`(
        group: String
    ) throws {
        try onLoopThread { loop in
            let listener = try Listener(.tcp(host: "127.0.0.1", port: 0))
            let calls = Calls()
            let context = try Certificates.server()
            try loop.add(listener, forMode: .default) { accepted in
                let connection = Connection(accepted, tls: context)
                calls.watch(connection)
                recorded { try RunLoop.current.add(connection, forMode: .default) }
            }
            let port = try #require(listener.localAddress.port)
            let tool = try Tool(
                "openssl", ["s_client", "-connect", "127.0.0.1:\(port)", "-groups", group, "-tls1_3"])
            loop.run(until: "the connection ends") { calls.reason != nil }
            #expect(calls.error != nil && calls.list == ["end"])
            tool.stop()
            listener.invalidate()
        }
    }

    @Test func `data in many small records keeps no other input waiting`() throws {
        try onLoopThread { loop in
            let calls = Calls()
            var received = 0
            var most = (bytesOfCall: 0, bytesOfPass: 0)
            var before = 0
            let sent = try flood(
                faults_tls_small_records, count: 20_000, loop, calls,
                eachPass: {
                    most.bytesOfPass = max(most.bytesOfPass, received - before)
                    before = received
                },
                change: { connection in
                    connection.onReceive { connection, bytes in
                        received += bytes.byteCount
                        most.bytesOfCall = max(most.bytesOfCall, bytes.byteCount)
                        if received == 20_000 { connection.close() }
                        return bytes.byteCount
                    }
                })
            #expect(sent > 0 && received == 20_000)
            #expect(most.bytesOfCall <= 4, "the records of one step")
            #expect(most.bytesOfPass <= 4 * 160, "the steps of a pass")
        }
    }
}
