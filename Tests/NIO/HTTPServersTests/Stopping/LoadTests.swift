import Foundation
import HTTPServers
import RunLoops
import Streams
import TestExpectations
import TestSupport
import Testing

/// Servers under load.
///
/// `HTTP_SERVERS_FULL=1` enables the full counts and times.
@Suite(.serialized) struct LoadTests {
    private static let isFull = ProcessInfo.processInfo.environment["HTTP_SERVERS_FULL"] == "1"

    /// Clients on threads of their own, which run until the test is over.
    private final class Load: Sendable {
        let answered = Shared()
        let lost = Log<String>()
        private let isOver = Shared()
        private let gates: [Gate]

        /// - Parameters:
        ///   - count: The number of clients.
        ///   - perConnection: The number of requests of a connection.
        ///   - port: The port.
        /// - Throws: `SystemError` if there is no thread.
        init(_ count: Int, perConnection: Int, _ port: UInt16) throws {
            gates = (0..<count).map { _ in Gate() }
            for gate in gates {
                try RunLoopThread.detach(name: "client") { [self] _ in
                    while isOver.count == 0 { ask(perConnection, port) }
                    gate.open()
                }
            }
        }

        private func ask(_ count: Int, _ port: UInt16) {
            do {
                let client = try Client(port)
                for number in 0..<count where isOver.count == 0 {
                    if !client.send(request("GET /")) { return lost.add("not sent after \(number) answers") }
                    let answer = client.answer()
                    if answer.body != "Hello, world!" { return lost.add("\(number) answers, then \(answer)") }
                    answered.increment()
                    if answer.head.contains("Connection: close") { return }
                }
            } catch { lost.add("\(error)") }
        }

        func end() {
            isOver.increment()
            for gate in gates { #expect(gate.wait()) }
        }
    }

    // Guarantees: Servers that hand their socket over to a successor refuse no connection and lose no request.
    @Test func `servers that take over from each other under load refuse and lose nothing`() throws {
        let restarts = LoadTests.isFull ? 100 : 20
        let served = Log<Int>()
        let start: @Sendable (Int, consuming OwnedDescriptor) throws -> Serving = { number, socket in
            try Serving(socket: socket) { exchange in
                served.add(number)
                exchange.respond(HTTPServer.Response.text("Hello, world!"))
            }
        }
        let first = try Listener(.tcp(host: "127.0.0.1", port: 0))
        let port = try #require(first.localAddress.port)
        var server = try start(0, first.duplicateSocket())
        first.invalidate()
        let load = try Load(8, perConnection: 5, port)
        func awaitAnswers() {
            let answered = load.answered.count
            waitUntil("the server answers") {
                load.answered.count > answered + 20 || load.lost.entries.count > 0
            }
        }
        for number in 1...restarts {
            awaitAnswers()
            let socket = try server.duplicateSocket()
            let successor = try start(number, socket)
            try server.stop()
            server = successor
        }
        awaitAnswers()
        load.end()
        try server.end()
        #expect(load.lost.entries.isEmpty, "\(load.lost.entries.prefix(5)) of \(load.answered.count)")
        #expect(Set(served.entries).count == restarts + 1)
        print("restarts: \(restarts), answers: \(load.answered.count), lost: \(load.lost.entries.count)")
    }

    @Test func `a server that stops under load loses no request that has begun`() throws {
        for _ in 0..<(LoadTests.isFull ? 50 : 5) {
            try withServer { server in
                // A refused connection is not a lost request. So each client uses one connection, until the server closes it after
                // an answer.
                let done = (0..<32).map { _ in Gate() }
                let lost = Log<String>()
                let answered = Shared()
                let port = server.port
                for gate in done {
                    try RunLoopThread.detach(name: "client") { _ in
                        defer { gate.open() }
                        guard let client = try? Client(port) else { return lost.add("not connected") }
                        while true {
                            client.send(request("GET /"))
                            let answer = client.answer()
                            if answer.body != "Hello, world!" { return lost.add("\(answer)") }
                            answered.increment()
                            if answer.head.contains("Connection: close") { return }
                        }
                    }
                }
                waitUntil("all are answered") { answered.count > 1_000 }
                try server.stop(endsThread: false)
                for gate in done { #expect(gate.wait()) }
                #expect(lost.entries.isEmpty, "\(lost.entries.prefix(5))")
            }
        }
    }

    @Test func `wrk with 256 connections gets an answer to each request`() throws {
        let seconds = LoadTests.isFull ? 30 : 2
        try withServer { server in
            let output = try Program(path: "/usr/bin/env").run(list: [
                "wrk", "-t2", "-c256", "-d\(seconds)s", "--latency", server.url("/"),
            ]).lines.joined(separator: "\n")
            #expect(output.contains("requests in"), "\(output)")
            #expect(!output.contains("Socket errors") && !output.contains("Non-2xx"), "\(output)")
            let answers = try server.perform { $0.statistics.sentResponses }
            #expect(answers > 1_000)
            if LoadTests.isFull { print(output) }
        }
    }
}
