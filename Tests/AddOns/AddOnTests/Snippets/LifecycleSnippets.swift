import Glibc
import Inspection
import Logging
import RunLoops
import RunLoopsLifecycle
import ServiceLifecycle
import Streams
import Testing
import UnixSignals

extension AddOns {
    @Suite struct LifecycleSnippets {
        @Test(.enabled(if: Loopback.isFree(8080))) func `a server is a group of services`() async throws {
            let logger = Logger(label: "server") { _ in SwiftLogNoOpLogHandler() }
            @Sendable func serve(_ connection: Connection) {
                connection.onFrame(.lines()) { connection, line in
                    connection.write(line)
                    connection.write("\n")
                }
                try? RunLoop.current.add(connection, forMode: .default)
            }
            let server = Task {
                let worker = try RunLoopThread(name: "worker")
                let listener = try ListenerService(.tcp(host: "127.0.0.1", port: 8080), on: worker.runLoop) {
                    accepted in
                    serve(Connection(accepted))
                }
                let group = ServiceGroup(
                    services: [try Inspector(), worker, listener],
                    gracefulShutdownSignals: [.sigterm, .sigint],
                    logger: logger)
                try await group.run()
            }
            let address = try #require(SocketAddress(host: "127.0.0.1", port: 8080))
            try await eventually {
                guard let client = try? Loopback.connect(to: address) else { return false }
                defer { client.close() }
                return client.exchange("hello")
            }
            kill(getpid(), SIGTERM)
            try await server.value
        }
    }
}
