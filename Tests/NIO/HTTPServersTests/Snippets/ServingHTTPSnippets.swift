import HTTPServers
import RunLoops
import Streams
import TestExpectations
import TestSupport
import Testing

/// The code of the landing page and of the article "Serving HTTP on a loop".
@Suite(.serialized) struct ServingHTTPSnippets {
    /// Runs a server on the loop of another thread, and a body as its client.
    private func with(
        _ makeServer: @escaping @Sendable (RunLoop) throws -> HTTPServer, _ body: (Serving) throws -> Void
    ) throws {
        let serving = try Serving(makeServer)
        do { try body(serving) } catch {
            try serving.end()
            throw error
        }
        try serving.end()
    }

    @Test func `the landing page's server answers, until its loop ends`() throws {
        let (socket, port) = try Loopback.listen()
        Loopback.close(socket)
        let loops = Log<RunLoop>()
        let (begins, ends) = (Gate(), Gate())
        try RunLoopThread.detach(name: "landing") { loop in
            loops.add(loop)
            loop.perform { begins.open() }
            do { try ServingHTTPSnippets.landing(port) } catch { Issue.record(error) }
            ends.open()
        }
        #expect(begins.wait())
        try expect("Hello, world! 200", "http://127.0.0.1:\(port)/hello", "-w", " %{http_code}")
        loops.entries[0].stop()
        #expect(ends.wait())
    }

    private static func landing(_ port: UInt16) throws {
        let server = try HTTPServer(.tcp(port: port))
        try RunLoop.current.add(server, forMode: .default) { exchange in
            switch exchange.request.path {
            case "/hello": exchange.respond(.text("Hello, world!"))
            default: exchange.respond(.status(.notFound))
            }
        }
        RunLoop.current.run()
        server.invalidate()
    }

    @Test func `an actor answers`() throws {
        let counter = Counter()
        try with { _ in
            try serve(counter, port: 0)
        } _: { server in
            for number in 1...3 { try expect("\(number)", "-X", "POST", server.url("/count")) }
        }
    }

    @Test func `lines are sent as fast as the client reads`() throws {
        let lines = [String](repeating: String(repeating: "x", count: 999), count: 3_000)
        try withServer(handler: { send(lines, to: $0) }) { server in
            try expect("3000000", "-o", "/dev/null", "-w", "%{size_download}", server.url("/"))
        }
    }

    @Test func `subscribers get events until they leave`() throws {
        let subscribers = Held(Subscribers())
        try withServer(handler: { subscribers.value.add($0) }) { server in
            let client = try Client(server.port)
            client.send(request("GET /"))
            _ = client.text(through: "\r\n\r\n")
            try server.perform { _ in subscribers.value.send(HTTPServer.Event("news")) }
            #expect(client.text(through: "\n\n").hasSuffix("data: news\n\n"))
        }
    }

    @Test func `the bytes of an upload are counted`() throws {
        let measurement = Measurement()
        try withServer(setUp: { measurement.measure($0) }) { server in
            try expect("Hello, world!", "-X", "PUT", "-d", "12345", server.url("/"))
            waitUntil("it is printed") { measurement.print.lines == ["5 bytes, sent"] }
        }
    }

    @Test func `each request is logged`() throws {
        let accesses = Accesses()
        try withServer(setUp: { accesses.log($0) }) { server in
            try expect("Hello, world!", server.url("/greeting"))
            waitUntil("it is logged") { accesses.print.lines == ["/greeting 200 13 bytes"] }
        }
    }

    @Test func `the servers of several loops share a port`() throws {
        let (socket, port) = try Loopback.listen()
        Loopback.close(socket)
        let group = try RunLoopThreadGroup(count: 2, name: "server")
        try serve(port: port, on: group)
        for _ in 0..<8 { try expect("Hello, world!", "http://127.0.0.1:\(port)/") }
        group.stop()
        #expect(group.join(before: .hang))
    }

    @Test func `a signal stops the server`() async {
        await #expect(processExitsWith: .success) {
            try onLoopThread { loop in
                let server = try HTTPServer(.tcp(host: "127.0.0.1", port: 0))
                try loop.add(server, forMode: .default) { $0.respond(.text("x")) }
                try stop(server, at: loop)
                Terminating.raise()
                loop.run()
                #expect(!server.isValid)
            }
        }
    }
}

private struct Measurement {
    let print = Printed()

    func measure(_ server: HTTPServer) {
        server.onHeader { exchange in
            guard exchange.request.method == .put else { return }
            var count = 0
            exchange.onData { _, bytes in count += bytes.byteCount }
            exchange.onEnd { _, reason in print("\(count) bytes, \(reason)") }
        }
    }
}

private struct Accesses {
    let print = Printed()

    func log(_ server: HTTPServer) {
        server.onRequestEnd { _, record in
            print(record.target ?? "-", record.status?.code ?? 0, "\(record.sentByteCount) bytes")
        }
    }
}

private func serve(port: UInt16, on group: RunLoopThreadGroup) throws {
    for thread in group.threads {
        try thread.runLoop.performAndWait {
            var options = HTTPServer.Options()
            options.reusesPort = true
            let server = try HTTPServer(.tcp(port: port), options: options)
            try RunLoop.current.add(server, forMode: .default) { $0.respond(.text("Hello, world!")) }
        }
    }
}

/// A value that one thread uses.
///
/// `@unchecked`: only handlers and blocks on the server's loop use the value.
private final class Held<Value>: @unchecked Sendable {
    let value: Value

    init(_ value: Value) { self.value = value }
}

private actor Counter {
    private var count = 0

    func increment() -> Int {
        count += 1
        return count
    }
}

private func serve(_ counter: Counter, port: UInt16) throws -> HTTPServer {
    let server = try HTTPServer(.tcp(host: "127.0.0.1", port: port))
    try RunLoop.current.add(server, forMode: .default) { exchange in
        exchange.respond { request in
            switch (request.method, request.segments) {
            case (.post, ["count"]): .text("\(await counter.increment())")
            default: .status(.notFound)
            }
        }
    }
    return server
}

private func send(_ lines: [String], to exchange: HTTPExchange) {
    var rest = lines[...]
    func write(_ exchange: HTTPExchange) {
        while let line = rest.popFirst() {
            if !exchange.write(line + "\n") { return }
        }
        exchange.endBody()
    }
    exchange.onDrained { write($0) }
    exchange.beginResponse(headerFields: [.contentType: "text/plain"])
    write(exchange)
}

private final class Subscribers {
    private var all: Set<HTTPExchange> = []

    func add(_ exchange: HTTPExchange) {
        exchange.onEnd { [unowned self] exchange, _ in all.remove(exchange) }
        if exchange.beginEvents() { all.insert(exchange) }
    }

    func send(_ event: HTTPServer.Event) {
        for exchange in all { exchange.send(event) }
    }
}

private func stop(_ server: HTTPServer, at loop: RunLoop) throws {
    let stop = try GracefulStop(within: .seconds(30)) { stop in
        server.stop(within: .seconds(25)) { _ in stop.finish() }
    }
    try loop.add(stop, forMode: .common)
}
