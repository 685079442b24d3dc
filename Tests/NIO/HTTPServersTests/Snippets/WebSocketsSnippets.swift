import RunLoops
import Streams
import Testing

@testable import HTTPServers

/// The code of the article "WebSockets".
@Suite struct WebSocketsSnippets {
    @Test func `what one client says, all clients hear`() throws {
        let serving = try Serving { loop in
            let server = try HTTPServer(.tcp(host: "127.0.0.1", port: 0))
            try WebSocketsSnippets.chat(on: server, of: loop)
            return server
        }
        let clients = try (0..<3).map { _ in try SocketClient(serving.port) }
        // The answer to a ping shows that the socket is served, and so is among those that hear.
        for client in clients {
            client.send(.ping, "")
            #expect(client.frame() == .init(.pong, []))
        }
        clients[1].send(.text, "hello")
        for client in clients { #expect(client.frame() == .text("hello")) }
        clients[1].send(.close, [3, 232])
        #expect(clients[1].frame() == .init(.close, [3, 232]) && clients[1].isAtEnd)
        clients[1].client.close()
        clients[0].send(.text, "again")
        for client in [clients[0], clients[2]] { #expect(client.frame() == .text("again")) }
        try serving.end()
    }
}
