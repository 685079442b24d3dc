import Hummingbird
import HummingbirdCore
import Logging
import NIOExtras
import RunLoops
import RunLoopsNIO
import ServiceLifecycle

/// A server of Hummingbird's router on the thread of a run loop, whose handlers reach actors of that loop without a hop.
struct LoopServer: Service {
    let thread: RunLoopThread
    let port: Int
    let logger: Logger
    let responder: RouterResponder<BasicRequestContext>
    let onServerRunning: @Sendable (Int) -> Void

    func run() async throws {
        let http = HTTP1Channel { [logger, responder] request, writer, channel in
            let context = BasicRequestContext(
                source: ApplicationRequestContextSource(channel: channel, logger: logger))
            let response = try await responder.respond(to: request, context: context)
            try await writer.write(response: response.head, body: response.body)
        }
        let eventLoop = try await thread.runLoop.performAndWait { RunLoopEventLoop() }
        let quiescing = ServerQuiescingHelper(group: eventLoop)
        let listener = try await RunLoopListenerBootstrap(group: eventLoop)
            .serverChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(
                        quiescing.makeServerChannelHandler(channel: channel))
                }
            }
            .childChannelOption(.allowRemoteHalfClosure, value: true)
            .bind(host: "127.0.0.1", port: port) { http.setup(channel: $0, logger: logger) }
        onServerRunning(listener.channel.localAddress?.port ?? port)
        await withGracefulShutdownHandler {
            await withDiscardingTaskGroup { group in
                try? await listener.executeThenClose { connections in
                    for try await connection in connections {
                        group.addTask(executorPreference: thread.runLoop.taskExecutor) {
                            await http.handle(value: connection, logger: logger)
                        }
                    }
                }
            }
        } onGracefulShutdown: {
            quiescing.initiateShutdown(promise: nil)
        }
    }
}
