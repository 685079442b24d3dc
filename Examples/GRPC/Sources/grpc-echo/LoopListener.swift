import GRPCCore
import GRPCNIOTransportHTTP2
import NIOCore
import RunLoopsNIO

/// Accepts the connections of a gRPC server on a run loop.
struct LoopListener: HTTP2ServerTransport.ListenerFactory {
    let eventLoop: RunLoopEventLoop
    let port: Int

    var eventLoopGroup: any EventLoopGroup { eventLoop }

    func makeListeningChannel(
        listenerConfigurator: HTTP2ServerTransport.ListenerConfigurator,
        connectionConfigurator: HTTP2ServerTransport.ConnectionConfigurator
    ) async throws -> NIOAsyncChannel<HTTP2ServerTransport.ConnectionConfigurator.ConnectionChannel, Never> {
        try await RunLoopListenerBootstrap(group: eventLoop)
            .serverChannelInitializer { listenerConfigurator.configure(channel: $0) }
            .bind(host: "127.0.0.1", port: port) { channel in
                connectionConfigurator.configure(channel: channel, tls: .none)
            }
    }
}
