import HTTPClients
import RunLoops
import TestExpectations
import TestSupport
import Testing

/// Answers that redirect a request.
@Suite struct RedirectTests {
    @Test(arguments: ["300 Multiple Choices", "304 Not Modified", "305 Use Proxy", "306 Unused", "399 Other"])
    func `a status that redirects nothing is the answer, even with a place`(status: String) throws {
        try withServer({ try $0.answer(status, "Location: /second", []) }) { client, server in
            let outcome = client.fetch(server.url("/"))
            #expect(outcome.error == nil && outcome.response.map { status.hasPrefix("\($0.status)") } == true)
            #expect(server.requests.entries.count == 1)
        }
    }

    @Test(arguments: [301, 302, 303, 307, 308])
    func `the method and the body after a redirect are those of the Fetch standard`(status: Int) throws {
        try withServer({ exchange in
            let body = try exchange.body()
            if exchange.path == "/first" {
                return try exchange.answer("\(status) Moved", "Location: /second", [1])
            }
            let type = exchange.field("Content-Type") ?? "none"
            try exchange.answer("200 OK", "", Array("\(exchange.method) \(body.count) \(type)".utf8))
        }) { client, server in
            for method in [.get, .head, .post, .put, .patch, .delete] as [HTTPRequest.Method] {
                let hasBody = method != "GET" && method != "HEAD"
                let request = HTTPClient.Request(
                    server.url("/first"), method: method,
                    headerFields: hasBody ? ["Content-Type": "a/b"] : [:],
                    body: hasBody ? .bytes([1, 2, 3]) : .none)
                let outcome = client.fetch(request)
                let becomesGet = status == 303 && hasBody || status < 303 && method == "POST"
                let kept = hasBody ? "\(method) 3 a/b" : "\(method) 0 none"
                #expect(outcome.error == nil)
                #expect(
                    outcome.text == (method == "HEAD" ? "" : becomesGet ? "GET 0 none" : kept), "\(method)")
                #expect(outcome.response?.url == server.url("/second"))
            }
        }
    }

    @Test func `a place may be relative, have spaces, and be beyond ASCII`() throws {
        for (place, path) in [
            ("second?a=1", "/one/second?a=1"), ("../x", "/x"), ("?q", "/one/two?q"), ("/a b", "/a%20b"),
            ("/\u{e4}", "/%C3%A4"), ("//localhost:PORT/y", "/y"),
        ] {
            try withServer({ exchange in
                if exchange.path != "/one/two" { return try exchange.answer() }
                let port = exchange.field("Host")?.split(separator: ":").last ?? ""
                try exchange.answer("302 Found", "Location: \(place.replacing("PORT", with: port))")
            }) { client, server in
                let outcome = client.fetch(server.url("/one/two"))
                #expect(outcome.error == nil && outcome.response?.status == 200, "\(place)")
                #expect(server.requests.entries.last?.split(separator: " ")[1] == path[...], "\(place)")
            }
        }
    }

    @Test func `several places, and a place that is not a URL, are refused`() throws {
        for field in [
            "Location: /a\r\nLocation: /b", "Location: http://", "Location: http://a:99999/", "Location: x:y",
            "Location: http://%C3%A4/",
        ] {
            try withServer({ try $0.answer("302 Found", field) }) { client, server in
                guard client.fetch(server.url("/")).error?.reason == .redirectRefused else {
                    Issue.record("\(field)")
                    return
                }
            }
        }
    }

    // Guarantees: What a request says to one origin is not sent on to another.
    @Test func `what is meant for one origin is not sent to another, nor back`() throws {
        try withServer({ exchange in
            let port = exchange.field("X-Port") ?? ""
            switch exchange.path {
            case "/first": try exchange.answer("307 Moved", "Location: /same")
            case "/same": try exchange.answer("307 Moved", "Location: http://localhost:\(port)/other")
            case "/other": try exchange.answer("307 Moved", "Location: http://127.0.0.1:\(port)/back")
            default: try exchange.answer()
            }
        }) { client, server in
            let fields: HTTPFields = [
                "Authorization": "secret", "Cookie": "secret", "Proxy-Authorization": "secret",
                "Host": "secret",
                "X-Port": "\(server.port)",
            ]
            #expect(client.fetch(HTTPClient.Request(server.url("/first"), headerFields: fields)).error == nil)
            let heads = server.requests.entries
            #expect(heads.map { $0.split(separator: " ")[1] } == ["/first", "/same", "/other", "/back"])
            #expect(heads.map { $0.split(separator: "secret").count - 1 } == [4, 4, 0, 0])
        }
    }

    @Test func `a redirect without end in its body is followed`() throws {
        try withServer({ exchange in
            if exchange.path == "/second" { return try exchange.answer() }
            try exchange.send("HTTP/1.1 302 Found\r\nLocation: /second\r\n\r\n")
            while true { try exchange.send([UInt8](repeating: 1, count: 65_536)) }
        }) { client, server in #expect(client.fetch(server.url("/")).text == "Hello, world!") }
    }

    @Test func `the time-out counts all requests of a transfer`() throws {
        try withServer({ exchange in
            if exchange.path == "/second" { return exchange.waitForEnd() }
            try exchange.answer("302 Found", "Location: /second")
        }) { client, server in
            var request = HTTPClient.Request(server.url("/"))
            request.timeout = .milliseconds(80)
            let start = ContinuousClock.now
            #expect(client.fetch(request).error?.timeout == .total)
            #expect(.now - start >= .milliseconds(79))
        }
    }

    @Test func `a URL that is too long is not followed`() throws {
        for (count, isFollowed) in [(16 << 10, true), (16 << 10 | 1, false)] {
            try withServer({ exchange in
                if exchange.number > 1 { return try exchange.answer() }
                let start = "http://127.0.0.1:\(exchange.field("Host")!.split(separator: ":")[1])/"
                let location = start + String(repeating: "x", count: count - start.utf8.count)
                try exchange.answer("302 Found", "Location: \(location)")
            }) { client, server in
                let outcome = client.fetch(server.url("/first"))
                #expect(outcome.error?.reason == (isFollowed ? nil : .redirectRefused))
            }
        }
    }
}
