import NIOCore
import RunLoops
import RunLoopsNIO
import Streams
import TLSStreams

/// A listener whose connections become channels, all on one loop.
struct ConnectionServer {
    let loop: LoopThread
    let port: Int

    init(
        tls: TLSServerContext? = nil, options: Connection.Options = .init(),
        log: Log? = nil, _ initialize: @escaping @Sendable (any Channel, Connection) throws -> Void
    ) throws {
        let loop = try LoopThread()
        self.loop = loop
        port = try loop.runLoop.performAndWait {
            let listener = try Listener(.tcp(host: "127.0.0.1", port: 0))
            try RunLoop.current.add(listener, forMode: .common) { accepted in
                let connection =
                    if let tls {
                        Connection(accepted, tls: tls, options: options)
                    } else {
                        Connection(accepted, options: options)
                    }
                loop.eventLoop.makeChannel(over: connection) { channel in
                    channel.eventLoop.makeCompletedFuture { try initialize(channel, connection) }
                }.whenFailure { error in
                    if case .tls? = (error as? ConnectionEndedError)?.reason { log?.note("refused") }
                }
            }
            return Int(listener.localAddress.port ?? 0)
        }
    }

    var address: NIOCore.SocketAddress {
        get throws { try .init(ipAddress: "127.0.0.1", port: port) }
    }

    func end() { loop.end() }
}

/// A connection that a test names on another thread, where it only calls what any thread may call, or passes it on to the connection's thread.
struct Bound: @unchecked Sendable {
    let connection: Connection
}
