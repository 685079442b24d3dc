import HTTPServers
import RunLoops
import TestExpectations
import TestSupport
import Testing

/// Exchanges that a test keeps.
///
/// `@unchecked`: only the thread of the server uses them.
private final class Kept: @unchecked Sendable {
    var exchanges: [HTTPExchange] = []
}

/// Requests that are answered at once, later, and from other threads.
@Suite struct ResponseTests {
    @Test func `curl gets an answer, with its status, fields and body`() throws {
        try withServer(handler: { exchange in
            var response = HTTPServer.Response.text("body of \(exchange.request.target)", status: 201)
            response.headerFields[HTTPField.Name("X-Method")!] = exchange.request.method.rawValue
            exchange.respond(response)
        }) { server in
            let text = try curl("-i", server.url("/a%20b?c=1")).joined()
            #expect(text.hasPrefix("HTTP/1.1 201 Created\r\n"))
            #expect(text.contains("\r\nX-Method: GET\r\n"))
            #expect(text.hasSuffix("\r\n\r\nbody of /a%20b?c=1"))
        }
    }

    @Test func `a request is a value with its fields and its body`() throws {
        let requests = Log<HTTPServer.Request>()
        try withServer(handler: { exchange in
            requests.add(exchange.request)
            exchange.respond(HTTPServer.Response(status: 204))
        }) { server in
            _ = try curl("-d", "some text", "-H", "X-One: 1", "-H", "x-one: 2", server.url("/post"))
            let request = try #require(requests.entries.first)
            #expect(request.method == .post && request.target == "/post" && request.version == "1.1")
            #expect(request.body == Array("some text".utf8))
            #expect(request.headerFields[values: HTTPField.Name("X-ONE")!] == ["1", "2"])
            #expect(request.contentLength == 9)
        }
    }

    @Test func `one connection serves many requests, also those that are sent without waiting`() throws {
        try withServer(handler: { $0.respond(HTTPServer.Response.text($0.request.target)) }) { server in
            let client = try Client(server.port)
            client.send((0..<100).map { request("GET /\($0)") }.joined())
            for number in 0..<100 { #expect(client.answer().body == "/\(number)") }
            #expect(try server.perform { $0.statistics.connections } == 1)
        }
    }

    @Test func `an answer that comes later is sent, and others are sent before it`() throws {
        try withServer(handler: { exchange in
            if exchange.request.target != "/late" {
                return _ = exchange.respond(HTTPServer.Response.text("soon"))
            }
            let timer = Timer(timeInterval: .milliseconds(50), repeats: false) { _ in
                exchange.respond(HTTPServer.Response.text("late"))
            }
            RunLoop.current.add(timer, forMode: .default)
        }) { server in
            let late = try Client(server.port)
            late.send(request("GET /late"))
            let soon = try Client(server.port)
            soon.send(request("GET /soon"))
            #expect(soon.answer().body == "soon")
            #expect(late.answer().body == "late")
            late.send(request("GET /soon"))
            #expect(late.answer().body == "soon")
        }
    }

    @Test func `a thread answers, and so does a task with an actor`() throws {
        actor Counter {
            var count = 0
            func next() -> Int {
                count += 1
                return count
            }
        }
        let counter = Counter()
        try withServer(handler: { exchange in
            if exchange.request.target == "/task" {
                exchange.respond { request in
                    HTTPServer.Response.text("\(request.target) \(await counter.next())")
                }
            } else {
                let responder = exchange.makeResponder()
                do {
                    try RunLoopThread.detach(name: "answering") { _ in
                        responder.respond(HTTPServer.Response.text("thread"))
                        #expect(!responder.respond(HTTPServer.Response.text("twice")))
                    }
                } catch { Issue.record(error) }
            }
        }) { server in
            try expect("thread", server.url("/thread"))
            try expect("/task 1", server.url("/task"))
            try expect("/task 2", server.url("/task"))
        }
    }

    // Guarantees: A request gets one response; if no object is left that could answer, it gets status 500.
    @Test func `a request that no one can answer any more gets status 500`() throws {
        try withServer(handler: { exchange in
            if exchange.request.target == "/responder" { _ = exchange.makeResponder() }
        }) { server in
            for path in ["/dropped", "/responder"] {
                try expect("500", "-o", "/dev/null", "-w", "%{http_code}", server.url(path))
            }
        }
    }

    @Test func `an exchange that is kept past its end still has its own request`() throws {
        let kept = Kept()
        try withServer(handler: { exchange in
            if kept.exchanges.count < 3 { kept.exchanges.append(exchange) }
            exchange.respond(HTTPServer.Response.text("x"))
        }) { server in
            let client = try Client(server.port)
            for number in 0..<6 {
                let body = number == 1 ? "text" : ""
                client.send(
                    request("PUT /\(number)", "X-Number: \(number)", "Content-Length: \(body.count)") + body)
                #expect(client.answer().body == "x")
            }
            let requests = try server.perform { _ in
                #expect(kept.exchanges.allSatisfy { !$0.isOpen && $0.hasResponse })
                defer { kept.exchanges = [] }
                return kept.exchanges.map(\.request)
            }
            #expect(requests.map(\.target) == ["/0", "/1", "/2"])
            #expect(requests.map { $0.headerFields[HTTPField.Name("X-Number")!] } == ["0", "1", "2"])
            #expect(requests.map(\.body) == [[], Array("text".utf8), []])
        }
    }

    @Test func `a responder that is kept past the end does not answer the next request`() throws {
        let kept = Kept()
        let responders = Log<HTTPResponder>()
        try withServer(handler: { exchange in
            if exchange.request.target == "/1" {
                responders.add(exchange.makeResponder())
                exchange.respond(HTTPServer.Response.text("one"))
            } else {
                kept.exchanges.append(exchange)
            }
        }) { server in
            let client = try Client(server.port)
            client.send(request("GET /1"))
            #expect(client.answer().body == "one")
            client.send(request("GET /2"))
            waitUntil("the second request is there") {
                (try? server.perform { _ in kept.exchanges.count == 1 }) == true
            }
            #expect(responders.entries.first?.respond(HTTPServer.Response.text("wrong")) == true)
            try server.perform { _ in
                kept.exchanges.first?.respond(HTTPServer.Response.text("two"))
                kept.exchanges = []
            }
            #expect(client.answer().body == "two")
        }
    }

    // Guarantees: A request gets one response; if no object is left that could answer, it gets status 500.
    @Test func `only the first answer counts`() throws {
        try withServer(handler: { exchange in
            #expect(exchange.respond(HTTPServer.Response.text("first")))
            #expect(!exchange.respond(HTTPServer.Response.text("second")))
            #expect(exchange.hasResponse)
        }) { server in try expect("first", server.url("/")) }
    }

    // Guarantees: A field of a response never adds another field or another response.
    @Test func `an answer that would become two is not sent`() throws {
        let bad: [HTTPFields] = [
            [.contentLength: "1"], [.transferEncoding: "chunked"], [.connection: "close"], [.date: "now"],
        ]
        try withServer(handler: { exchange in
            let index = Int(exchange.request.target.dropFirst()) ?? 0
            let status = index == bad.count ? 99 : 200
            let fields = index == bad.count ? [:] : bad[index]
            exchange.respond(
                HTTPServer.Response(status: .init(code: status), headerFields: fields, body: [1]))
        }) { server in
            for index in 0...bad.count {
                let client = try Client(server.port)
                client.send(request("GET /\(index)"))
                let head = client.answer().head
                #expect(head.hasPrefix("HTTP/1.1 500 ") && !head.contains("Evil"))
            }
        }
    }

    // Guarantees: A field of a response never adds another field or another response.
    @Test func `a field never adds another field`() throws {
        let name = try #require(HTTPField.Name("X"))
        let values = ["a\r\nX-Evil: 1", "a\nX-Evil: 1", "a\rX-Evil: 1", "\0", "", "a\r\n\r\nHTTP/1.1 200 OK"]
        #expect(["X\r\nY", "", "X Y"].allSatisfy { HTTPField.Name($0) == nil })
        try withServer(handler: { exchange in
            let index = Int(exchange.request.target.dropFirst()) ?? 0
            exchange.respond(
                HTTPServer.Response(
                    status: .init(code: 299, reasonPhrase: "a\r\nX-Evil: 1"),
                    headerFields: [name: values[index]], body: [1]))
        }) { server in
            for index in values.indices {
                let client = try Client(server.port)
                client.send(request("GET /\(index)", "Connection: close"))
                let lines = client.rest().split(separator: "\r\n", omittingEmptySubsequences: false)
                // A status line, four fields of the server and the program, a blank line and the body.
                #expect(lines.count == 7 && lines.allSatisfy { !$0.hasPrefix("X-Evil") }, "\(lines)")
            }
        }
    }

    @Test func `the end is told once, with its reason`() throws {
        let ends = Log<String>()
        try withServer(handler: { exchange in
            exchange.onEnd { exchange, reason in ends.add("\(exchange.request.target) \(reason)") }
            exchange.respond(HTTPServer.Response.text("x"))
        }) { server in
            _ = try curl(server.url("/1"))
            waitUntil("the end is told") { !ends.entries.isEmpty }
            #expect(ends.entries == ["/1 sent"])
        }
    }

    @Test func `HEAD gets the fields without the body`() throws {
        try withServer { server in
            let client = try Client(server.port)
            client.send(request("HEAD /") + request("GET /"))
            let text = client.text(through: "Hello, world!")
            #expect(text.ranges(of: "Content-Length: 13").count == 2)
            #expect(text.ranges(of: "Hello").count == 1)
        }
    }

    @Test func `a file is sent from its offset to its end, and closed`() throws {
        let directory = try ScratchDirectory()
        let path = directory.path + "/file"
        try Bytes.write([UInt8](repeating: 7, count: 3 << 20), to: path)
        try withServer(handler: { exchange in
            do {
                let file = try Bytes.open(exchange.request.target == "/file" ? path : "/dev/null")
                exchange.respond(file: file, headerFields: [.contentType: "application/octet-stream"])
            } catch { Issue.record(error) }
        }) { server in
            for _ in 0..<3 {
                try expect(
                    "200 3145728", "-o", "/dev/null", "-w", "%{http_code} %{size_download}",
                    server.url("/file"))
            }
            try expect("500", "-o", "/dev/null", "-w", "%{http_code}", server.url("/null"))
            waitUntil("the files are closed") { Bytes.openCount(of: path) == 0 }
        }
        try directory.remove()
    }

    // Guarantees: No handler of a server is called inside another handler of the same server.
    @Test
    func `a handler may stop the server, and run the loop, in which no other handler of the server runs`()
        throws
    {
        let order = Log<String>()
        try withServer(handler: { exchange in
            order.add("begin \(exchange.request.target)")
            if exchange.request.target == "/1" {
                let end = ContinuousClock.now + .milliseconds(100)
                while ContinuousClock.now < end {
                    _ = RunLoop.current.run(in: .default, until: end)
                }
            }
            order.add("end \(exchange.request.target)")
            exchange.respond(HTTPServer.Response.text("x"))
        }) { server in
            let (one, two) = (try Client(server.port), try Client(server.port))
            one.send(request("GET /1"))
            waitUntil("the first handler runs") { !order.entries.isEmpty }
            two.send(request("GET /2"))
            #expect(one.answer().body == "x" && two.answer().body == "x")
            #expect(order.entries == ["begin /1", "end /1", "begin /2", "end /2"])
        }
        let ends = Log<HTTPExchange.EndReason>()
        try withServer(setUp: { server in
            server.onHeader { exchange in
                exchange.onEnd { _, reason in ends.add(reason) }
                server.invalidate()
            }
        }) { server in
            let client = try Client(server.port)
            client.send(request("POST /", "Content-Length: 5") + "abcde")
            #expect(client.rest() == "")
            waitUntil("it has ended") { ends.entries == [.serverInvalidated] }
        }
    }
}
