import Glibc
import RunLoops
import Streams
import TLSStreams
import TestExpectations
import TestSupport

/// A relay between a client and a server, each with its own pair of sockets, whose bytes the test's thread moves.
///
/// The client asks a question, and the server answers.
final class Relay {
    let pair: SecurePair
    private let loop: RunLoop
    private var near: (client: CInt, server: CInt)
    /// The numbers of bytes that were moved to the server and to the client.
    private(set) var moved = (0, 0)

    init(_ loop: RunLoop, client: TLSClientContext? = nil, _ options: Connection.Options = .init()) throws {
        self.loop = loop
        let (server, client, context) = (try Loopback.pair(), try Loopback.pair(), client)
        pair = try SecurePair(client: context, options: options, (server.0, client.0))
        near = (client.1, server.1)
        pair.client.write("question\n")
        pair.server.onFrame(.lines()) { connection, line in connection.write("answer\n") }
        try pair.add(to: loop)
    }

    deinit { cut() }

    /// Moves the available bytes in both directions, up to a total for each direction.
    func move(toServer: Int, toClient: Int, change: (inout [UInt8]) -> Void = { _ in }) throws {
        moved.0 += try Relay.copy(near.client, near.server, toServer - moved.0, change)
        moved.1 += try Relay.copy(near.server, near.client, toClient - moved.1, change)
    }

    private static func copy(
        _ from: CInt, _ to: CInt, _ most: Int, _ change: (inout [UInt8]) -> Void
    )
        throws -> Int
    {
        if from < 0 || most <= 0 { return 0 }
        guard var bytes = try? Loopback.read(from, atMost: min(most, 65_536)) else { return 0 }
        change(&bytes)
        return try Loopback.write(bytes, to: to)
    }

    /// Moves bytes and runs the loop until there are no more bytes to move.
    func settle(toServer: Int = .max, toClient: Int = .max) throws {
        var rounds = 0
        while rounds < 3 {
            let before = moved
            loop.pass()
            try move(toServer: toServer, toClient: toClient)
            rounds = before == moved ? rounds + 1 : 0
        }
    }

    /// Sends bytes to the client that the server has not sent.
    func forge(_ bytes: [UInt8]) throws { _ = try Loopback.write(bytes, to: near.client) }

    func cut() {
        if near.client < 0 { return }
        close(near.client)
        close(near.server)
        near = (-1, -1)
    }
}
