import NIOCore
import Testing

@testable import HTTPServers

extension RequestRules {
    /// Checks a whole request.
    fileprivate static func verdict(
        _ fields: [(String, String)], bodyLimit: Int?, method: String = "GET", target: String = "/",
        version: String = "1.1"
    ) -> Verdict {
        var rules = RequestRules(bodyLimit: bodyLimit)
        for (name, value) in fields { rules.add(name, value) }
        return rules.verdict(method: method, target: target, isOld: version == "1.0")
    }
}

/// Targets, events, rules and proofs, without a server.
@Suite struct ValueTests {
    @Test func `a target has a path, segments and a query`() {
        let request = HTTPServer.Request(target: "/users/j%20d/a%2Fb/?q=a+b%26&flag&x=1=2&&%zz=%")
        #expect(request.path == "/users/j%20d/a%2Fb/")
        #expect(request.segments == ["users", "j d", "a/b", ""])
        #expect(request.query.map(\.name) == ["q", "flag", "x", "%zz"])
        #expect(request.query.map(\.value) == ["a b&", "", "1=2", "%"])
        #expect(HTTPServer.Request(target: "/").segments == [""])
        #expect(HTTPServer.Request(.options, target: "*").segments == ["*"])
        #expect(HTTPServer.Request(target: "/%ff%c3%a9").segments == ["\u{fffd}é"])
        #expect(HTTPServer.Request(target: "/a?").query.isEmpty)
    }

    @Test func `only CR, LF and CR LF end a line of an event`() {
        for letter in ["\u{85}", "\u{2028}", "\u{2029}", "\u{B}", "\u{C}", "\u{1C}"] {
            let event = HTTPServer.Event("a\(letter)b", name: "n\(letter)m", id: "i\(letter)j")
            #expect(event.lines == "event: n\(letter)m\nid: i\(letter)j\ndata: a\(letter)b\n\n")
        }
        #expect(HTTPServer.Event("a\n\u{301}b").lines == "data: a\ndata: \u{301}b\n\n")
        #expect(
            HTTPServer.Event("\r\n\r\r\n", name: "a\r\n\r\n\0b").lines
                == "event: ab\ndata: \ndata: \ndata: \ndata: \n\n")
    }

    @Test func `the time to reconnect may be any duration`() {
        #expect(HTTPServer.Event("", retry: .seconds(Int64.max)).lines == "retry: 2147483000\ndata: \n\n")
        #expect(HTTPServer.Event("", retry: .seconds(Int64.min)).lines == "retry: 0\ndata: \n\n")
        #expect(HTTPServer.Event("", retry: .milliseconds(-1)).lines == "retry: 0\ndata: \n\n")
    }

    @Test func `an event has a line for each line of its text, and no other`() {
        #expect(HTTPServer.Event("a").lines == "data: a\n\n")
        #expect(HTTPServer.Event("a\nb\r\nc\rd\n").lines == "data: a\ndata: b\ndata: c\ndata: d\ndata: \n\n")
        let event = HTTPServer.Event("x", name: "n\nid: 9", id: "7\r\ndata: y", retry: .milliseconds(1_500))
        #expect(event.lines == "event: nid: 9\nid: 7data: y\nretry: 1500\ndata: x\n\n")
    }

    @Test func `the proof of a WebSocket is the one of RFC 6455`() {
        #expect(WebSocketKey.accept("dGhlIHNhbXBsZSBub25jZQ==") == "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=")
        let digest = WebSocketKey.sha1(Array("abc".utf8)).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }
        #expect(digest.joined() == "a9993e364706816aba3e25717850c26c9cd0d89d")
        #expect(WebSocketKey.base64(Array("f".utf8)) == "Zg==")
        #expect(WebSocketKey.base64(Array("foobar".utf8)) == "Zm9vYmFy")
    }

    @Test func `a name consists of the characters that RFC 9110 allows in a token`() {
        let tokens = "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
        for number in UInt8.min...UInt8.max {
            let letter = Character(Unicode.Scalar(number))
            let verdict = RequestRules.verdict([("Host", "a"), ("X\(letter)", "b")], bodyLimit: nil)
            let isAccepted = if case .accepted = verdict { true } else { false }
            #expect(isAccepted == tokens.contains(letter), "\(number)")
        }
    }

    @Test func `each rule of a request has its status`() {
        func status(
            _ fields: [(String, String)], version: String = "1.1", method: String = "GET",
            target: String = "/"
        ) -> Int? {
            let verdict = RequestRules.verdict(
                fields, bodyLimit: 10, method: method, target: target, version: version)
            return if case .refused(let status) = verdict { status } else { nil }
        }
        let host = ("Host", "a")
        #expect(status([host]) == nil)
        #expect(status([]) == 400)
        #expect(status([], version: "1.0") == nil)
        #expect(status([host], method: "G@T") == 400)
        #expect(status([host, ("host", "b")]) == 400)
        #expect(status([host, ("Content-Length", "10")]) == nil)
        #expect(status([host, ("Content-Length", "11")]) == 413)
        #expect(status([host, ("Content-Length", "")]) == 400)
        #expect(status([host, ("Content-Length", "1x")]) == 400)
        #expect(status([host, ("Content-Length", "+1")]) == 400)
        #expect(status([host, ("Content-Length", "99999999999999999999")]) == 413)
        #expect(status([host, ("Content-Length", "18446744073709551617")]) == 413)
        #expect(status([host, ("Content-Length", "99999999999999999999x")]) == 400)
        #expect(status([host, ("Content-Length", "00000000000000000000010")]) == nil)
        #expect(status([host, ("Content-Length", "1"), ("Transfer-Encoding", "chunked")]) == 400)
        #expect(status([host, ("Content-Length", "1"), ("Content-Length", "1")]) == 400)
        #expect(status([host, ("Transfer-Encoding", "CHUNKED")]) == nil)
        #expect(status([host, ("Transfer-Encoding", "\tchunked ")]) == nil)
        for coding in [
            "gzip", "", "identity", "chunked, identity", "gzip, chunked", "chunked, chunked", ",chunked",
            "chunked,",
            "\"chunked\"", "chunked;a=b", "xchunked",
        ] {
            #expect(status([host, ("Transfer-Encoding", coding)]) == 501, "\(coding)")
        }
        #expect(status([host, ("Transfer-Encoding", "x"), ("Transfer-Encoding", "chunked")]) != nil)
        #expect(status([("Transfer-Encoding", "chunked")], version: "1.0") == 400)
        #expect(status([host, ("X ", "1")]) == 400)
        #expect(status([host, ("X", "a\0b")]) == 400)
        #expect(status([host, ("Expect", "100-Continue")]) == nil)
        #expect(status([host, ("Expect", "wonders")]) == 417)
        #expect(status([host], method: "CONNECT", target: "a:80") == 501)
        #expect(status([host], method: "OPTIONS", target: "*") == nil)
        for target in ["/", "/?", "http://b", "HTTP://B/", "https://b?x", "http://b:1/"] {
            #expect(status([host], target: target) == nil, "\(target)")
        }
        for target in [
            "", "a", "?a", "*", "a:80", "ftp://a/", "http:/b", "http:///b", "http://u@a/", "http://",
            "p://a/", "/a b",
            "/#", "/\u{e9}", "/\u{fffd}", "/\u{7f}",
        ] {
            #expect(status([host], target: target) == 400, "\(target)")
        }
    }

    @Test func `a host is a name or an address, and a port`() {
        for host in ["a", "a.b-c_d~", "%41", "127.0.0.1:80", "[::1]", "[::1]:8080", "a:", "a:65535"] {
            #expect(FieldText.isHost(host), "\(host)")
        }
        for host in [
            "", "a b", "a/b", "a@b", "a,b", "(", "\"a\"", "a:65536", "a:99999", "a:x", "a:-1", ":80", "[]",
            "[::1", "[::1]a",
            "a\u{e9}", "a\u{fffd}", "a:1:2", "a\tb", "a#",
        ] {
            #expect(!FieldText.isHost(host), "\(host)")
        }
    }

    @Test func `the fields say what follows the header, and what follows the response`() {
        func facts(_ fields: (String, String)..., version: String = "1.1", target: String = "/")
            -> RequestRules.Facts?
        {
            let verdict = RequestRules.verdict(
                [("Host", " a\t")] + fields, bodyLimit: nil, method: "POST", target: target, version: version)
            return if case .accepted(let facts) = verdict { facts } else { nil }
        }
        #expect(facts()?.body == RequestRules.Body.none && facts()?.host == "a")
        #expect(facts(target: "http://b:80/")?.host == "b:80")
        #expect(facts(("Content-Length", "0"))?.body == RequestRules.Body.none)
        #expect(facts(("Content-Length", " 9999\t"))?.body == .counted(9_999))
        #expect(facts(("Transfer-Encoding", "chunked"))?.body == .chunked)
        #expect(facts(("Content-Length", "1"), ("Expect", "100-continue"))?.expectsContinue == true)
        #expect(facts(("Expect", "100-continue"))?.expectsContinue == false)
        for value in ["close", "\tclose\t", "x,\tCLOSE\t, y", "keep-alive, close", ",close"] {
            #expect(facts(("Connection", value))?.asksForClose == true, "\(value)")
        }
        #expect(facts(("Connection", "x"), ("connection", "close"))?.asksForClose == true)
        #expect(facts(("Connection", "closed, xclose"))?.asksForClose == false)
        #expect(facts(("Connection", "Keep-Alive"), version: "1.0")?.asksForKeepAlive == true)
    }

    @Test func `a query keeps the order and the case of its names`() {
        let query = HTTPServer.Request(target: "/?a=1&A=2&a=3").query
        #expect(query["a"] == "1" && query["A"] == "2" && query["b"] == nil)
        #expect(query.values(of: "a") == ["1", "3"] && query.count == 3)
        #expect(HTTPServer.Request(target: "http://h?x=1").query["x"] == "1")
        #expect(HTTPServer.Request(target: "http://h?x=1").path == "/")
        #expect(HTTPServer.Request(target: "http://h/a/b?x").segments == ["a", "b"])
    }

    @Test func `pieces end behind the first blank line, wherever the bytes are cut`() {
        let text = Array("a\r\nb\r\n\r\r\n\r\nc".utf8)
        for cut in 0...text.count {
            var finder = BlankLineFinder()
            let (first, second) = (Array(text[..<cut]), Array(text[cut...]))
            // Safe, here and below: a byte has no padding.
            if let end = finder.end(in: unsafe first.span.bytes) {
                #expect(end == 11 && cut >= 11)
            } else {
                let end = finder.end(in: unsafe second.span.bytes)
                #expect(end == 11 - cut, "\(cut)")
            }
        }
    }

    @Test func `a date has the form that HTTP prescribes`() {
        #expect(HTTPDate.text(of: 784_111_777) == "Sun, 06 Nov 1994 08:49:37 GMT")
    }

    @Test func `more around the data of chunks than clients send is too much`() {
        var cost = ChunkCost()
        // A client that sends each byte in a chunk of its own.
        for _ in 0..<100_000 { cost.add(6, data: 1) }
        #expect(!cost.isTooHigh)
        cost = ChunkCost()
        cost.add(20_000, data: 100)
        #expect(cost.isTooHigh)
    }

    @Test func `a trailer is limited, however long the body was`() {
        var cost = ChunkCost()
        cost.add(10_000_020, data: 10_000_000)
        for _ in 0..<16 { cost.add(1024, data: 0) }
        #expect(!cost.isTooHigh)
        cost.add(1, data: 0)
        #expect(cost.isTooHigh)
    }

    @Test func `a body is limited when it is collected, and bounded when it is streamed`() {
        let bytes = ByteBuffer(repeating: 1, count: 60_000)
        var body = RequestBody()
        func take(_ limit: Int?) -> Bool { body.take(bytes, limit: limit) }
        #expect(take(100_000) && body.bytes.count == 60_000)
        #expect(!take(100_000) && body.bytes.isEmpty)
        #expect(take(nil))
        body = RequestBody()
        body.isStreamed = true
        for _ in 0..<3 {
            #expect(!body.isFull)
            #expect(take(1))
        }
        #expect(body.isFull)
        let given = body.giveBytes()
        #expect(given.count == 180_000)
        #expect(!body.isFull)
    }
}
