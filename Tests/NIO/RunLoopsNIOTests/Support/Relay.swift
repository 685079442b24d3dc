import NIOConcurrencyHelpers
import NIOCore
import RunLoops
import RunLoopsNIO
import Streams
import TLSStreams

/// Encrypts what plain clients send to servers with TLS, on a thread of its own, and passes on every end and reset.
enum Relay {
    private static let thread: RunLoopThread = {
        do { return try RunLoopThread(name: "relay") } catch {
            fatalError("a thread can be started: \(error)")
        }
    }()
    /// For the port of each server, the port to which its plain clients connect.
    private static let ports = NIOLockedValueBox<[Int: UInt16]>([:])

    /// The address to which a plain client of a server connects.
    static func address(for server: NIOCore.SocketAddress) -> NIOCore.SocketAddress {
        guard let port = server.port, let own = ports.withLockedValue({ $0[port] }) else { return server }
        do { return try .init(ipAddress: "127.0.0.1", port: Int(own)) } catch {
            fatalError("the address is valid: \(error)")
        }
    }

    /// Begins to relay to a server, until its channel is closed.
    static func begin(for server: any Channel) {
        guard let port = server.localAddress?.port, let number = UInt16(exactly: port) else { return }
        let own: UInt16
        do {
            own = try thread.runLoop.performAndWait {
                let listener = try Listener(.tcp(host: "127.0.0.1", port: 0))
                try RunLoop.current.add(listener, forMode: .common) { accepted in
                    begin(Connection(accepted), number)
                }
                return listener.localAddress.port ?? 0
            }
        } catch { fatalError("the relay can listen: \(error)") }
        ports.withLockedValue { $0[port] = own }
        server.closeFuture.whenComplete { _ in _ = ports.withLockedValue { $0.removeValue(forKey: port) } }
    }

    private static func begin(_ plain: Connection, _ port: UInt16) {
        let secure = Connection(
            connectingTo: .tcp(host: "127.0.0.1", port: port), tls: Certificate.shared.client,
            serverName: "localhost")
        pass(plain, secure)
        pass(secure, plain)
        do {
            try RunLoop.current.add(plain, forMode: .common)
            try RunLoop.current.add(secure, forMode: .common)
        } catch { fatalError("the relay has descriptors: \(error)") }
    }

    private static func pass(_ from: Connection, _ to: Connection) {
        from.onReceive { from, bytes in
            if !to.write(bytes) { from.isReadingPaused = true }
            return bytes.byteCount
        }
        to.onDrained { _ in from.isReadingPaused = false }
        from.onInputEnd { _ in to.endOutput() }
        from.onEnd { _, reason in
            switch reason {
            case .peerClosed, .closed: to.closeAfterWriting()
            default: to.reset()
            }
        }
    }
}

/// A bootstrap whose channels have TLS, and whose plain clients connect through the relay.
struct RelayedBootstrap: Listening {
    private let bootstrap: RunLoopListenerBootstrap

    init(_ bootstrap: RunLoopListenerBootstrap) {
        self.bootstrap = bootstrap.childConnection { Connection($0, tls: Certificate.shared.server) }
    }

    func bind(host: String, port: Int) -> EventLoopFuture<any Channel> {
        bootstrap.bind(host: host, port: port).always { result in
            if case .success(let channel) = result { Relay.begin(for: channel) }
        }
    }
    func bind(unixDomainSocketPath path: String) -> EventLoopFuture<any Channel> {
        bootstrap.bind(unixDomainSocketPath: path)
    }
    func childOption<Option: ChannelOption>(_ option: Option, _ value: Option.Value) -> any Listening {
        RelayedBootstrap(bootstrap.childChannelOption(option, value: value))
    }
    func serverOption<Option: ChannelOption>(_ option: Option, _ value: Option.Value) -> any Listening {
        RelayedBootstrap(bootstrap.serverChannelOption(option, value: value))
    }
    func onServer(_ initialize: @escaping @Sendable (any Channel) throws -> Void) -> any Listening {
        RelayedBootstrap(
            bootstrap.serverChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture { try initialize(channel) }
            })
    }
}
