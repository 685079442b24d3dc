import RunLoops
import Streams
import TestExpectations
import TestSupport
import Testing

@testable import HTTPServers

/// In a forked child, ends and removals of the parent's server give back only the child's copies.
///
/// Each test has a process of its own, which forks.
@Suite struct ServerForkTests {
    /// What the child does.
    enum Act: String, Codable, CaseIterable {
        case invalidate, remove, removeFromAllModes, cancelExchange, resetSocket

        /// True if the server has ended afterwards.
        var endsServer: Bool { self == .invalidate }
    }

    /// The objects of a server.
    ///
    /// `@unchecked`: the loop's thread sets them; the child has only one thread.
    private final class Objects: @unchecked Sendable {
        var server: HTTPServer?
        var exchange: HTTPExchange?
        var socket: WebSocket?
        /// The ends of the exchange and of the socket, in order.
        let ends = Log<String>()

        func perform(_ act: Act, _ loop: RunLoop) {
            guard let server else { return }
            switch act {
            case .invalidate: server.invalidate()
            case .remove: for mode in [RunLoop.Mode.default, .common] { loop.remove(server, forMode: mode) }
            case .removeFromAllModes: loop.remove(server)
            case .cancelExchange: exchange?.cancel()
            case .resetSocket: socket?.reset()
            }
        }
    }

    @Test(arguments: Act.allCases)
    func `an end or a removal in a forked child calls nothing, and the parent's server goes on`(act: Act)
        async
    {
        await #expect(processExitsWith: .success) { [act] in
            for isOnLoopThread in [true, false] {
                let objects = Objects()
                try withServer(
                    setUp: { objects.server = $0 },
                    handler: { exchange in
                        switch exchange.request.path {
                        case "/socket":
                            exchange.upgradeToWebSocket { socket in
                                socket.onMessage { socket, _ in socket.send("heard") }
                                socket.onEnd { _, reason in objects.ends.add("socket: \(reason)") }
                                objects.socket = socket
                            }
                        case "/stream":
                            exchange.onEnd { _, reason in objects.ends.add("exchange: \(reason)") }
                            exchange.beginResponse(contentLength: 4)
                            exchange.write("half")
                            objects.exchange = exchange
                        default: exchange.respond(.text("Hello, world!"))
                        }
                    }
                ) { server in
                    let (quiet, stream) = (try Client(server.port), try Client(server.port))
                    let socket = try SocketClient(server.port)
                    quiet.send(request("GET /"))
                    #expect(quiet.answer().body == "Hello, world!")
                    stream.send(request("GET /stream"))
                    #expect(stream.text(through: "half").hasSuffix("half"))
                    let loop = server.thread.runLoop
                    let fork: @Sendable () -> Child.Ending = {
                        Child {
                            objects.perform(act, loop)
                            if objects.server?.isValid == act.endsServer { return 1 }
                            return objects.ends.entries.isEmpty ? 0 : 2
                        }.wait()
                    }
                    if isOnLoopThread {
                        #expect(try server.perform { _ in fork() } == .exited(0))
                    } else {
                        try BareThread { #expect(fork() == .exited(0)) }.join()
                    }
                    // Each connection of before, and a new one, is served.
                    for client in [quiet, try Client(server.port)] {
                        client.send(request("GET /"))
                        #expect(client.answer().body == "Hello, world!")
                    }
                    #expect(objects.ends.entries == [])
                    socket.send(.text, "are you there")
                    #expect(socket.frame() == .text("heard"))
                    try server.perform { _ in
                        objects.exchange?.endBody()
                        (objects.server, objects.exchange, objects.socket) = (nil, nil, nil)
                    }
                    waitUntil("the exchange has ended") { !objects.ends.entries.isEmpty }
                    #expect(objects.ends.entries == ["exchange: \(HTTPExchange.EndReason.sent)"])
                    // The clients are released, and so close their connections, only now.
                    withExtendedLifetime((stream, socket)) {}
                }
            }
        }
    }
}
