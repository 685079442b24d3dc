import RunLoops
import TestExpectations
import TestSupport
import Testing

@testable import HTTPServers

/// Requests that wait for the server.
///
/// The limits of time are for clients that the server waits for.
@Suite struct WaitingRequestTests {
    /// Runs the loop in the server's mode for more than twice the limits below, and for more than the time for which a connection must
    /// be quiet before a server that stops closes it.
    private static func runLong() {
        let end = ContinuousClock.now + .milliseconds(1_200)
        while ContinuousClock.now < end { _ = RunLoop.current.run(in: .default, until: end) }
    }

    private static var impatient: HTTPServer.Options {
        var options = HTTPServer.Options()
        options.headerTimeout = .milliseconds(500)
        options.idleTimeout = .milliseconds(500)
        options.bodyTimeout = .milliseconds(500)
        return options
    }

    // Guarantees: The time of a client does not run out while its request waits for another handler of the server to return.
    @Test func `a request that arrives while a handler runs the loop is answered, however long that takes`()
        throws
    {
        let isRunning = Gate()
        try withServer(
            WaitingRequestTests.impatient,
            handler: { exchange in
                if exchange.request.target == "/long" {
                    isRunning.open()
                    WaitingRequestTests.runLong()
                }
                exchange.respond(.text("\(exchange.request.body.count)"))
            }
        ) { server in
            let (long, fresh, kept, upload) = (
                try Client(server.port), try Client(server.port), try Client(server.port),
                try Client(server.port)
            )
            kept.send(request("GET /"))
            #expect(kept.answer().body == "0")
            upload.send(request("POST /", "Content-Length: 3") + "a")
            waitUntil("the upload has begun") { (try? server.perform { $0.statistics.requests }) == 2 }
            long.send(request("GET /long"))
            #expect(isRunning.wait())
            for client in [fresh, kept] { client.send(request("GET /")) }
            upload.send("bc")
            for client in [long, fresh, kept] { #expect(client.answer().body == "0") }
            #expect(upload.answer().body == "3")
            #expect(try server.perform { $0.statistics.slowConnections } == 0)
        }
    }

    @Test(arguments: [false, true])
    func `a request that was sent ahead is answered after a handler that runs the loop`(stops: Bool) throws {
        let stopped = Gate()
        try withServer(
            WaitingRequestTests.impatient,
            setUp: { server in
                // The handler of the end of the first request may run the loop, too.
                server.onRequestEnd { _, record in
                    if record.target == "/first" { WaitingRequestTests.runLong() }
                }
            },
            handler: { exchange in
                exchange.respond(.text(exchange.request.target))
            }
        ) { server in
            let client = try Client(server.port)
            client.send(request("GET /first") + request("GET /second"))
            #expect(client.answer().body == "/first")
            if stops { try server.perform { $0.stop { _ in stopped.open() } } }
            #expect(client.answer().body == "/second")
            if stops { #expect(stopped.wait()) }
        }
    }

    @Test func `messages that wait while a handler of their socket runs the loop are delivered`() throws {
        try withServer(handler: { exchange in
            var options = WebSocket.Options()
            options.idleTimeout = .milliseconds(500)
            exchange.upgradeToWebSocket(options: options) { socket in
                socket.onMessage { socket, message in
                    if message == .text("long") { WaitingRequestTests.runLong() }
                    socket.send("answer")
                }
            }
        }) { server in
            let client = try SocketClient(server.port)
            for text in ["long", "short", "short"] { client.send(.text, text) }
            for _ in 0..<3 { #expect(client.frame() == .text("answer")) }
        }
    }

    /// Neither the idle time nor the time after which a server that stops closes a quiet connection is for a client that receives.
    // Guarantees: A client that receives a long response slowly gets all of it, also from a server that stops, within its deadline.
    @Test(arguments: [false, true])
    func `a client that receives a long response slowly gets all of it`(stops: Bool) throws {
        var options = HTTPServer.Options()
        if !stops { options.idleTimeout = .seconds(2) }
        let count = 60 << 20
        let stopped = Gate()
        try withServer(
            options, handler: { $0.respond(.init(status: .ok, body: [UInt8](repeating: 7, count: count))) }
        ) { server in
            let client = try Client(server.port)
            client.send(request("GET /"))
            let head = client.text(through: "\r\n\r\n")
            #expect(head.contains("Content-Length: \(count)\r\n"))
            if stops { try server.perform { $0.stop { _ in stopped.open() } } }
            var received = 0
            // More than the limits pass while the client receives, which it does all the time.
            for _ in 0..<15 {
                let end = received + 2 << 20
                while received < end, let bytes = client.some() { received += bytes.count }
                try WaitingRequestTests.letTimePass(.milliseconds(200), on: server)
            }
            while received < count, let bytes = client.some() { received += bytes.count }
            #expect(received == count)
            if stops { #expect(stopped.wait()) }
        }
    }

    /// Waits until a timer of the server's loop has fired.
    private static func letTimePass(_ time: Duration, on server: Serving) throws {
        let hasPassed = Gate()
        server.thread.runLoop.perform {
            let timer = Timer(timeInterval: time, repeats: false) { _ in hasPassed.open() }
            RunLoop.current.add(timer, forMode: .default)
        }
        #expect(hasPassed.wait())
    }
}
