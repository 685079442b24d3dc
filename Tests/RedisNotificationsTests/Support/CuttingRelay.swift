import RunLoops
import Streams
import TestSupport

/// A relay between clients and a server, which closes all its connections once, after a number of bytes in one direction.
final class CuttingRelay: Sendable {
    /// The direction whose bytes count.
    enum Direction: CaseIterable { case toServer, toClient }

    /// The part that lives on the relay's loop.
    private final class Core {
        var rest: Int
        var connections: [Connection] = []

        init(_ rest: Int) { self.rest = rest }

        /// Passes bytes on, and cuts if this is where to.
        func pass(_ bytes: RawSpan, to target: Connection, counts: Bool) {
            if !counts || rest < 0 || rest > bytes.byteCount {
                if counts { rest -= rest < 0 ? 0 : bytes.byteCount }
                _ = target.write(bytes)
                return
            }
            _ = target.write(bytes.extracting(0..<rest))
            rest = -1
            let cut = connections
            connections = []
            // The bytes before the cut still arrive.
            for connection in cut { connection.closeAfterWriting() }
        }
    }

    /// The path of the socket that clients connect to.
    let path: String

    private let directory: ScratchDirectory
    private let thread: RunLoopThread
    private let wasCut = Shared()

    /// True once the connections were cut.
    var hasCut: Bool { wasCut.count > 0 }

    init(to server: String, cutting direction: Direction, after bytes: Int) throws {
        directory = try ScratchDirectory()
        let path = directory.path + "/relay"
        self.path = path
        thread = try RunLoopThread(name: "relay")
        let wasCut = self.wasCut
        try thread.runLoop.performAndWait {
            let core = Core(bytes)
            let listener = try Listener(.unix(path: path))
            try RunLoop.current.add(listener, forMode: .default) { accepted in
                let client = Connection(accepted)
                let server = Connection(connectingTo: .unix(path: server))
                core.connections += [client, server]
                for (source, target, way) in [
                    (client, server, Direction.toServer), (server, client, Direction.toClient),
                ] {
                    source.onReceive { _, bytes in
                        core.pass(bytes, to: target, counts: way == direction)
                        if core.rest < 0 && !(wasCut.count > 0) { wasCut.increment() }
                        return bytes.byteCount
                    }
                    source.onEnd { _, _ in target.closeAfterWriting() }
                }
                do {
                    try RunLoop.current.add(client, forMode: .default)
                    try RunLoop.current.add(server, forMode: .default)
                } catch { client.close() }
            }
        }
    }

    deinit {
        thread.stop()
        thread.join()
        do { try directory.remove() } catch { print("the directory of a relay cannot be removed: \(error)") }
    }
}
