import GRPCCore
import GRPCNIOTransportHTTP2
import RunLoops
import RunLoopsNIO
import Testing

@testable import grpc_echo

/// The server and its client, each on the thread of a run loop.
@Suite struct EchoTests {
    @Test func `calls are answered on the loop, and a graceful shut-down ends the server`() async throws {
        let thread = try RunLoopThread(name: "server")
        let (servers, found) = AsyncStream<GRPCServer<HTTP2ServerTransport.Custom<LoopListener>>>.makeStream()
        async let end: Void = GRPCEcho.serve(on: thread.runLoop, port: 0) { found.yield($0) }
        var iterator = servers.makeAsyncIterator()
        let server = try #require(await iterator.next())
        let address = try #require(await server.transport.listeningAddress?.ipv4)

        let other = try RunLoopThread(name: "client")
        let eventLoop = try await other.runLoop.performAndWait { RunLoopEventLoop() }
        let transport = try await HTTP2ClientTransport.WrappedChannel.wrapping { configure in
            try await RunLoopConnectionBootstrap(group: eventLoop)
                .connect(host: "127.0.0.1", port: address.port) { configure($0) }
        }
        let answers = try await withGRPCClient(transport: transport) { client in
            try await withThrowingTaskGroup(of: String.self) { group in
                for number in 1...20 {
                    group.addTask {
                        try await client.unary(
                            request: ClientRequest(message: "text\(number)"),
                            descriptor: EchoService.method,
                            serializer: TextCoder(), deserializer: TextCoder(), options: .defaults
                        ) { try $0.message }
                    }
                }
                var answers: [String] = []
                for try await answer in group { answers.append(answer) }
                return answers
            }
        }
        let texts = Set(answers.compactMap { $0.split(separator: " ").first.map(String.init) })
        let counts = Set(answers.compactMap { $0.split(separator: " ").last.flatMap { Int($0) } })
        #expect(texts == Set((1...20).map { "text\($0)" }))
        #expect(counts == Set(1...20))

        server.beginGracefulShutdown()
        try await end
        try await eventLoop.shutdownGracefully()
        for thread in [thread, other] {
            thread.stop()
            await thread.join()
        }
    }
}
