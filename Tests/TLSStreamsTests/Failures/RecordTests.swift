import RunLoops
import Streams
import TLSStreams
import TestExpectations
import TestSupport
import Testing

/// Records that no honest peer sends: with lengths that are lies, and with alerts that another computer has made.
@Suite struct RecordTests {
    private static let plainAlert: [UInt8] = [21, 3, 3, 0, 2]
    private static let fatal: UInt8 = 2
    private static let alerts: [(UInt8, TLSError.Reason)] = [
        (40, .noCommonCipher), (42, .badCertificate), (44, .certificateRevoked), (45, .certificateExpired),
        (48, .unknownIssuer), (70, .noCommonVersion), (80, .other), (112, .unknownServerName),
        (116, .certificateRequired), (120, .noCommonApplicationProtocol),
    ]

    /// Ends an open connection with bytes that the server has not sent, and returns the relay.
    private func forge(
        _ bytes: [UInt8], _ version: TLSVersion, isCut: Bool = false,
        _ check: @escaping @Sendable (RunLoop, Relay) throws -> Void
    ) throws {
        try onLoopThread { loop in
            let relay = try Relay(loop, client: Certificates.client { $0.versions = version...version })
            try relay.settle()
            #expect(relay.pair.clientCalls.list == ["connected", "answer"])
            try relay.forge(bytes)
            if isCut { relay.cut() }
            loop.run(until: "the client has ended") { relay.pair.clientCalls.reason != nil }
            #expect(relay.pair.clientCalls.list == ["connected", "answer", "end"])
            try check(loop, relay)
        }
    }

    @Test(arguments: [TLSVersion.tls12, .tls13])
    func `a record that claims more than a record may have ends the connection, and the peer is told`(
        version: TLSVersion
    ) throws {
        for length: [UInt8] in [[0xff, 0xff], [0x48, 0x01]] {
            try forge([23, 3, 3] + length + [UInt8](repeating: 7, count: 100), version) { loop, relay in
                #expect(relay.pair.clientCalls.error?.reason == .other)
                #expect(relay.pair.clientCalls.error?.isFromPeer == false)
                try relay.move(toServer: .max, toClient: 0)
                loop.run(until: "the server has the alert") { relay.pair.serverCalls.reason != nil }
                #expect(relay.pair.serverCalls.error?.isFromPeer == true)
            }
        }
    }

    @Test(arguments: [TLSVersion.tls12, .tls13])
    func `a record that claims more than follows is truncated, and not delivered`(version: TLSVersion)
        throws
    {
        try forge([23, 3, 3, 0x40, 0] + [UInt8](repeating: 7, count: 100), version, isCut: true) { _, relay in
            #expect(relay.pair.clientCalls.error?.reason == .truncated)
        }
    }

    /// Only in the hand-shake are alerts not encrypted.
    // Guarantees: A byte that is changed on its way ends the connection, and is not delivered.
    @Test(arguments: [TLSVersion.tls12, .tls13])
    func `an alert that the peer has not encrypted is neither its end nor its error`(version: TLSVersion)
        throws
    {
        for alert: [UInt8] in [[1, 0], [RecordTests.fatal, 40]] {
            try forge(RecordTests.plainAlert + alert, version) { _, relay in
                #expect(relay.pair.clientCalls.error?.isFromPeer == false)
            }
        }
    }

    /// Sends bytes to one end in its hand-shake, and returns the error with which that end ends.
    private func error(of bytes: [UInt8], isServer: Bool) throws -> TLSError? {
        try onLoopThread { loop in
            let ends = try Loopback.pair()
            defer { Loopback.close(ends.1) }
            let connection =
                try isServer
                ? Connection(OwnedDescriptor(ends.0), tls: Certificates.server())
                : Connection(OwnedDescriptor(ends.0), tls: Certificates.client(), serverName: "localhost")
            let calls = Calls()
            calls.watch(connection)
            try loop.add(connection, forMode: .default)
            loop.pass()
            _ = try Loopback.write(bytes, to: ends.1)
            loop.run(until: "it has ended") { calls.reason != nil }
            #expect(calls.list == ["end"])
            return calls.error
        }
    }

    @Test(arguments: RecordTests.alerts)
    func `an alert in the middle of a hand-shake ends it with the peer's cause`(
        code: UInt8, cause: TLSError.Reason
    ) throws {
        let error = try error(of: RecordTests.plainAlert + [RecordTests.fatal, code], isServer: false)
        #expect(error?.reason == cause && error?.isFromPeer == true)
    }

    @Test func `warnings without end, and a message that claims megabytes, end a hand-shake`() throws {
        let warning: [UInt8] = RecordTests.plainAlert + [1, 90]
        for isServer in [true, false] {
            let hello: UInt8 = isServer ? 1 : 2
            let claim: [UInt8] = [22, 3, 3, 0, 4, hello, 0xff, 0xff, 0xff]
            for bytes in [(0..<100).flatMap { _ in warning }, claim] {
                #expect(try error(of: bytes, isServer: isServer)?.isFromPeer == false)
            }
        }
    }
}
