import HTTPServers
import RunLoops
import Synchronization
import TestExpectations
import TestSupport
import Testing

/// Answers that are sent while they are written.
@Suite struct StreamTests {
    /// Writes until the answer has no room, and continues when it has drained.
    private static func pour(_ count: Int, into exchange: HTTPExchange) {
        var left = count
        func write(_ exchange: HTTPExchange) {
            while left > 0 {
                let part = [UInt8](repeating: 5, count: min(left, 10_000))
                left -= part.count
                if !exchange.write(part) { return }
            }
            exchange.endBody()
        }
        exchange.onDrained { write($0) }
        write(exchange)
    }

    @Test(arguments: [nil, 5_000_000])
    func `a long answer arrives whole, with a length or in chunks`(count: Int?) throws {
        let most = Shared()
        try withServer(handler: { exchange in
            exchange.beginResponse(headerFields: [.contentType: "text/plain"], contentLength: count)
            StreamTests.pour(5_000_000, into: exchange)
            most.value.store(exchange.unsentByteCount, ordering: .sequentiallyConsistent)
        }) { server in
            try expect(
                "200 5000000", "-o", "/dev/null", "-w", "%{http_code} %{size_download}", server.url("/"))
            #expect(most.count > 0 && most.count < 200_000)
        }
    }

    @Test func `an answer whose bytes were all sent before its end has ended at once`() throws {
        let ends = Log<HTTPExchange.EndReason>()
        let held = Log<Held>()
        try withServer(handler: { exchange in
            exchange.onEnd { _, reason in ends.add(reason) }
            exchange.beginResponse(contentLength: 4)
            exchange.write("text")
            held.add(Held(exchange: exchange))
        }) { server in
            let client = try Client(server.port)
            client.send(request("GET /"))
            #expect(client.answer().body == "text")
            #expect(ends.entries == [])
            try server.perform { _ in
                for held in held.entries { held.exchange.endBody() }
                held.removeAll()
            }
            waitUntil("the end is told") { ends.entries == [.sent] }
            withExtendedLifetime(client) {}
        }
    }

    /// An exchange that only the thread of the server's loop uses.
    private struct Held: @unchecked Sendable { let exchange: HTTPExchange }

    // Guarantees: A client that does not read makes the writer wait.
    @Test func `a client that does not read makes the writer wait`() throws {
        let written = Shared()
        try withServer(handler: { exchange in
            exchange.beginResponse()
            func write(_ exchange: HTTPExchange) {
                repeat {
                    written.value.add(10_000, ordering: .sequentiallyConsistent)
                } while exchange.write([UInt8](repeating: 5, count: 10_000))
            }
            exchange.onDrained { write($0) }
            write(exchange)
        }) { server in
            let client = try Client(server.port)
            client.send(request("GET /"))
            _ = client.text(through: "\r\n\r\n")
            waitUntil("the kernel's buffers are full") {
                let before = written.count
                // A round trip through the server gives the writer time to continue.
                guard let other = try? Client(server.port) else { return false }
                other.send("GET / nonsense\r\n\r\n")
                _ = other.rest()
                return written.count == before && before > 0
            }
            // Below the sum of the kernel's buffers at both ends and the high-water mark.
            #expect(written.count < 64 << 20)
            client.reset()
        }
    }

    @Test func `an answer that is aborted, or too short, is seen to be incomplete`() throws {
        let ends = Log<String>()
        try withServer(handler: { exchange in
            exchange.onEnd { ends.add("\($0.request.target) \($1)") }
            exchange.beginResponse(contentLength: exchange.request.target == "/short" ? 10 : nil)
            exchange.write("abc")
            if exchange.request.target == "/abort" { exchange.cancel() } else { exchange.endBody() }
        }) { server in
            for path in ["/short", "/abort"] {
                let code = try curl("-o", "/dev/null", "-w", "%{exitcode}", server.url(path)).last
                #expect(code != "0", "\(path)")
            }
            waitUntil("both have ended") { ends.entries.count == 2 }
            #expect(ends.entries == ["/short failed", "/abort cancelled"])
        }
    }

    // Guarantees: If a client leaves while a response is streamed to it, the server notices that, even while nothing is written.
    @Test func `a client that leaves is noticed while nothing is written`() throws {
        let ends = Log<HTTPExchange.EndReason>()
        try withServer(handler: { exchange in
            exchange.onEnd { _, reason in ends.add(reason) }
            exchange.beginEvents()
            exchange.send(HTTPServer.Event("first"))
        }) { server in
            for number in 1...4 {
                let client = try Client(server.port)
                client.send(request("GET /"))
                _ = client.text(through: "data: first\n\n")
                if number.isMultiple(of: 2) { client.reset() } else { client.close() }
                waitUntil("the end is told") { ends.entries.count == number }
            }
            #expect(ends.entries == [.clientLeft, .clientLeft, .clientLeft, .clientLeft])
            waitUntil("no connection is left") { (try? server.perform { $0.connectionCount }) == 0 }
        }
    }

    @Test
    func `a request that arrives during a stream is answered after it, and does not keep the loop busy`()
        throws
    {
        let gate = Gate()
        let passes = Shared()
        try withServer(handler: { exchange in
            if exchange.request.target == "/next" {
                return _ = exchange.respond(HTTPServer.Response.text("next"))
            }
            exchange.beginResponse(contentLength: 3)
            let timer = Timer(timeInterval: .milliseconds(100), repeats: false) { _ in
                passes.value.store(Int(RunLoop.current.statistics.passes), ordering: .sequentiallyConsistent)
                exchange.write("abc")
                exchange.endBody()
            }
            RunLoop.current.add(timer, forMode: .default)
            gate.open()
        }) { server in
            let client = try Client(server.port)
            client.send(request("GET /stream"))
            #expect(gate.wait())
            client.send(request("GET /next"))
            #expect(client.answer().body == "abc")
            #expect(client.answer().body == "next")
            #expect(passes.count < 50)
        }
    }

    @Test func `events arrive one by one, as browsers read them`() throws {
        try withServer(handler: { exchange in
            exchange.beginEvents()
            var number = 0
            let timer = Timer(timeInterval: .milliseconds(5), repeats: true) { timer in
                number += 1
                exchange.send(HTTPServer.Event("line 1\nline \(number)", name: "tick", id: "\(number)"))
                if number < 3 { return }
                exchange.sendComment("end")
                exchange.endBody()
                timer.invalidate()
            }
            RunLoop.current.add(timer, forMode: .default)
        }) { server in
            let lines = try curl("-i", "-N", server.url("/"))
            let text = lines.joined(separator: "\n")
            #expect(text.contains("Content-Type: text/event-stream"))
            let body = (1...3).map { "event: tick\nid: \($0)\ndata: line 1\ndata: line \($0)" }
            #expect(
                lines.suffix(13).joined(separator: "\n").hasSuffix((body + [": end"]).joined(separator: "\n"))
            )
        }
    }

    /// What checks that a service is alive asks for the header of a stream, and keeps its connection.
    @Test
    func `a client that asks for the header of a stream gets its next response while the stream goes on`()
        throws
    {
        let streams = Log<String>()
        try withServer(handler: { exchange in
            guard exchange.request.path == "/events" else { return _ = exchange.respond(.text("next")) }
            exchange.onEnd { streams.add("\($1)") }
            streams.add("\(exchange.beginEvents())")
            exchange.send(HTTPServer.Event("discarded"))
        }) { server in
            let client = try Client(server.port)
            client.send(request("HEAD /events") + request("GET /next"))
            #expect(client.answer().head.contains("Content-Type: text/event-stream"))
            #expect(client.answer().body == "next")
            waitUntil("the end is told") { streams.entries == ["true", "sent"] }
        }
    }
}
