import HTTPServers
import RunLoops

// In a file of its own, because the test of it sees more of the module than a user does.
extension WebSocketsSnippets {
    static func chat(on server: HTTPServer, of loop: RunLoop) throws {
        var sockets: Set<WebSocket> = []
        try loop.add(server, forMode: .default) { exchange in
            exchange.upgradeToWebSocket { socket in
                sockets.insert(socket)
                socket.onMessage { _, message in
                    guard case .text(let text) = message else { return }
                    for other in sockets { other.send(text) }
                }
                socket.onEnd { socket, _ in sockets.remove(socket) }
            }
        }
    }
}
