import HTTPServers
import RunLoops
import Streams
import TestExpectations
import TestSupport
import Testing

/// Connections that switch to another protocol.
@Suite struct UpgradeTests {
    @Test func `an upgraded connection gets the bytes that came early, and outlives the server`() throws {
        let ends = Log<Connection.EndReason>()
        let serverEnds = Log<HTTPExchange.EndReason>()
        try withServer(handler: { exchange in
            exchange.onEnd { _, reason in serverEnds.add(reason) }
            let isUpgraded = exchange.upgrade(to: "echo") { connection in
                connection.onFrame(.lines()) { connection, line in
                    connection.write("echo ")
                    connection.write(line)
                    connection.write("\n")
                }
                connection.onEnd { _, reason in ends.add(reason) }
                do { try RunLoop.current.add(connection, forMode: .default) } catch { Issue.record(error) }
            }
            #expect(isUpgraded)
        }) { server in
            let client = try Client(server.port)
            client.send(request("GET /", "Connection: Upgrade", "Upgrade: echo") + "early\nhalf")
            let head = client.text(through: "\r\n\r\n")
            #expect(head.hasPrefix("HTTP/1.1 101 ") && head.contains("Upgrade: echo"))
            #expect(client.text(through: "\n") == "echo early\n")
            client.send(" line\n")
            #expect(client.text(through: "\n") == "echo half line\n")
            waitUntil("the exchange has ended") { serverEnds.entries == [.sent] }
            try server.perform { server in
                #expect(server.connectionCount == 0)
                server.invalidate()
            }
            client.send("still\n")
            #expect(client.text(through: "\n") == "echo still\n")
            client.close()
            waitUntil("the connection has ended") { ends.entries == [.peerClosed] }
        }
    }

    @Test func `a request that is no handshake is refused with a reason`() throws {
        try withServer(handler: { exchange in
            if exchange.request.target == "/echo" {
                #expect(!exchange.upgrade(to: "echo") { _ in })
            } else {
                #expect(!exchange.upgradeToWebSocket { _ in })
            }
        }) { server in
            let heads: [(String, String)] = [
                (request("GET /echo"), "426"),
                (request("GET /echo", "Connection: Upgrade", "Upgrade: other"), "426"),
                ("GET /echo HTTP/1.0\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n", "426"),
                (request("GET /", "Connection: Upgrade", "Upgrade: websocket"), "400"),
                (
                    request(
                        "GET /", "Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 12",
                        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=="), "426"
                ),
                (
                    request(
                        "GET /", "Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=="),
                    "426"
                ),
            ]
            for (head, status) in heads {
                let client = try Client(server.port)
                client.send(head)
                #expect(client.answer().head.hasPrefix("HTTP/1.1 \(status) "), "\(head)")
            }
        }
    }

    @Test func `a client that leaves before the upgrade leaves nothing behind`() throws {
        let upgrades = Shared()
        try withServer(handler: { exchange in
            let timer = Timer(timeInterval: .milliseconds(20), repeats: false) { _ in
                exchange.upgrade(to: "echo") { connection in
                    upgrades.increment()
                    connection.close()
                }
            }
            RunLoop.current.add(timer, forMode: .default)
        }) { server in
            for _ in 0..<10 {
                let client = try Client(server.port)
                client.send(request("GET /", "Connection: Upgrade", "Upgrade: echo"))
                waitUntil("the request is there") {
                    (try? server.perform { $0.statistics.requests }) ?? 0 > 0
                }
                client.reset()
            }
            waitUntil("no connection is left") { (try? server.perform { $0.connectionCount }) == 0 }
        }
    }

    /// The handler of an upgrade that does not happen is released when its exchange ends.
    ///
    /// The release can destroy an object that uses the server.
    @Test func `an object of the handler of an upgrade that fails may invalidate the server`() throws {
        let isDestroyed = Shared()
        let held = Held()
        try withServer(
            setUp: { held.server = $0 },
            handler: { exchange in
                let parting = Parting {
                    held.server?.invalidate()
                    isDestroyed.increment()
                }
                #expect(exchange.upgrade(to: "echo") { _ in parting.hold() })
                exchange.cancel()
            }
        ) { server in
            let client = try Client(server.port)
            client.send(request("GET /", "Connection: Upgrade", "Upgrade: echo"))
            waitUntil("the handler is released") { isDestroyed.count == 1 }
            try server.perform { #expect($0.connectionCount == 0) }
        }
    }

    /// A server for its own handlers.
    ///
    /// `@unchecked`: only the thread of the server's loop uses it.
    private final class Held: @unchecked Sendable { weak var server: HTTPServer? }
}
