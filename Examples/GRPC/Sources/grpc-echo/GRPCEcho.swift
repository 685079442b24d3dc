import Dispatch
import GRPCCore
import GRPCNIOTransportHTTP2
import RunLoops
import RunLoopsNIO

/// A gRPC server whose connections and methods are served on the thread of a run loop.
@main struct GRPCEcho {
    static func main() async throws {
        let thread = try RunLoopThread(name: "echo")
        try await serve(on: thread.runLoop, port: 7007) { server in
            let signal = DispatchSource.makeSignalSource(signal: 15, queue: .global())
            signal.setEventHandler { server.beginGracefulShutdown() }
            signal.activate()
        }
        thread.stop()
        await thread.join()
    }

    /// Serves until the server is shut down, and the calls under way are answered.
    static func serve(
        on loop: RunLoop, port: Int,
        _ started: @escaping @Sendable (GRPCServer<HTTP2ServerTransport.Custom<LoopListener>>) -> Void
    ) async throws {
        let eventLoop = try await loop.performAndWait { RunLoopEventLoop() }
        let server = GRPCServer(
            transport: HTTP2ServerTransport.Custom(
                listenerFactory: LoopListener(eventLoop: eventLoop, port: port)),
            services: [EchoService(counter: Counter(on: loop))])
        // Code of gRPC and of the service that belongs to no actor runs on the loop's thread, so the counter is reached without a hop.
        let serving = Task(executorPreference: loop.taskExecutor) { try await server.serve() }
        started(server)
        try await serving.value
        try await eventLoop.shutdownGracefully()
    }
}
