import Glibc
import NIOCore
import NIOPosix
import RunLoopsNIO
import Streams

/// One of the two kinds of event loops, with one loop.
struct Backend: Sendable {
    /// The event loops that are compared.
    enum Kind: Sendable, CaseIterable {
        case posix
        /// Channels with sockets of their own.
        case runLoop
        /// Accepted channels that connections of Streams carry.
        case connection
        /// The same with TLS. A relay gives the plain client its end.
        case secureConnection

        /// All kinds but SwiftNIO's own.
        static var onRunLoop: Set<Kind> { plain.union([.secureConnection]) }
        /// The kinds whose bytes a client without TLS understands.
        static var plain: Set<Kind> { [.runLoop, .connection] }
    }

    let kind: Kind
    let group: any EventLoopGroup
    let loop: any EventLoop

    /// Calls a function with event loops of a kind, and then shuts them down.
    static func with<Value>(_ kind: Kind, _ body: (Backend) throws -> Value) throws -> Value {
        let group: any EventLoopGroup =
            switch kind {
            case .posix: MultiThreadedEventLoopGroup(numberOfThreads: 1)
            case .runLoop, .connection, .secureConnection: try RunLoopEventLoopGroup(numberOfThreads: 1)
            }
        let value = Result { try body(Backend(kind: kind, group: group, loop: group.next())) }
        try group.syncShutdownGracefully()
        return try value.get()
    }

    func listener(
        halfClosure: Bool = false,
        _ initialize: @escaping @Sendable (any Channel) throws -> Void
    ) -> any Listening {
        let initializer: @Sendable (any Channel) -> EventLoopFuture<Void> = { channel in
            channel.eventLoop.makeCompletedFuture { try initialize(channel) }
        }
        let made: any Listening =
            switch kind {
            case .posix: ServerBootstrap(group: group).childChannelInitializer(initializer)
            case .runLoop: RunLoopListenerBootstrap(group: group).childChannelInitializer(initializer)
            case .connection:
                RunLoopListenerBootstrap(group: group).childChannelInitializer(initializer)
                    .childConnection { Connection($0) }
            case .secureConnection:
                RelayedBootstrap(
                    RunLoopListenerBootstrap(group: group).childChannelInitializer(initializer))
            }
        return made.childOption(.allowRemoteHalfClosure, halfClosure)
    }

    func bind(
        halfClosure: Bool = false,
        _ initialize: @escaping @Sendable (any Channel) throws -> Void = { _ in }
    ) throws -> any Channel {
        try listener(halfClosure: halfClosure, initialize).bind(host: "127.0.0.1", port: 0).wait()
    }

    /// A server that sends everything back, as a barrier: see ``passBarrier(_:)``.
    func barrier() throws -> RawClient {
        RawClient(try bind { try $0.pipeline.syncOperations.addHandler(Echo()) })
    }

    /// Waits until the loop has seen everything that was sent to its sockets before the call.
    func passBarrier(_ client: RawClient) {
        for _ in 0..<3 {
            client.send("x")
            _ = client.read(1)
        }
    }

    func client(
        halfClosure: Bool = true, timeout: TimeAmount? = nil,
        _ initialize: @escaping @Sendable (any Channel) throws -> Void = { _ in }
    ) -> any NIOClientTCPBootstrapProtocol {
        let initializer: @Sendable (any Channel) -> EventLoopFuture<Void> = { channel in
            channel.eventLoop.makeCompletedFuture { try initialize(channel) }
        }
        var made: any NIOClientTCPBootstrapProtocol =
            switch kind {
            case .posix: ClientBootstrap(group: group)
            case .runLoop, .connection, .secureConnection: RunLoopConnectionBootstrap(group: group)
            }
        made = made.channelOption(.allowRemoteHalfClosure, value: halfClosure)
            .channelInitializer(initializer)
        if let timeout { made = made.connectTimeout(timeout) }
        return made
    }
}

/// What the bootstraps of both kinds have.
protocol Listening {
    func bind(host: String, port: Int) -> EventLoopFuture<any Channel>
    func bind(unixDomainSocketPath: String) -> EventLoopFuture<any Channel>
    func childOption<Option: ChannelOption>(_ option: Option, _ value: Option.Value) -> any Listening
    func serverOption<Option: ChannelOption>(_ option: Option, _ value: Option.Value) -> any Listening
    func onServer(_ initialize: @escaping @Sendable (any Channel) throws -> Void) -> any Listening
}

extension ServerBootstrap: Listening {
    func childOption<Option: ChannelOption>(_ option: Option, _ value: Option.Value) -> any Listening {
        childChannelOption(option, value: value)
    }
    func serverOption<Option: ChannelOption>(_ option: Option, _ value: Option.Value) -> any Listening {
        serverChannelOption(option, value: value)
    }
    func onServer(_ initialize: @escaping @Sendable (any Channel) throws -> Void) -> any Listening {
        serverChannelInitializer { channel in
            channel.eventLoop.makeCompletedFuture { try initialize(channel) }
        }
    }
}

extension RunLoopListenerBootstrap: Listening {
    func childOption<Option: ChannelOption>(_ option: Option, _ value: Option.Value) -> any Listening {
        childChannelOption(option, value: value)
    }
    func serverOption<Option: ChannelOption>(_ option: Option, _ value: Option.Value) -> any Listening {
        serverChannelOption(option, value: value)
    }
    func onServer(_ initialize: @escaping @Sendable (any Channel) throws -> Void) -> any Listening {
        serverChannelInitializer { channel in
            channel.eventLoop.makeCompletedFuture { try initialize(channel) }
        }
    }
}
