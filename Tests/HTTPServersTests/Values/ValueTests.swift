import Testing

@testable import HTTPServers

extension RequestRules {
    /// Checks a whole request.
    fileprivate static func verdict(on request: HTTPServer.Request, bodyLimit: Int?) -> Verdict {
        var rules = RequestRules(bodyLimit: bodyLimit)
        for field in request.fields { rules.add(field.name.utf8.span, field.value.utf8.span) }
        return rules.verdict(method: request.method, version: request.version)
    }
}

/// Targets, events, rules and proofs, without a server.
@Suite struct ValueTests {
    @Test func `a target has a path, segments and a query`() {
        let request = HTTPServer.Request("GET", "/users/j%20d/a%2Fb/?q=a+b%26&flag&x=1=2&&%zz=%")
        #expect(request.path == "/users/j%20d/a%2Fb/")
        #expect(request.segments == ["users", "j d", "a/b", ""])
        #expect(request.query.map(\.name) == ["q", "flag", "x", "%zz"])
        #expect(request.query.map(\.value) == ["a b&", "", "1=2", "%"])
        #expect(HTTPServer.Request("GET", "/").segments == [""])
        #expect(HTTPServer.Request("OPTIONS", "*").segments == ["*"])
        #expect(HTTPServer.Request("GET", "/%ff%c3%a9").segments == ["\u{fffd}é"])
        #expect(HTTPServer.Request("GET", "/a?").query.isEmpty)
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
            let request = HTTPServer.Request("GET", "/", fields: ["Host": "a", "X\(letter)": "b"])
            let isAccepted = RequestRules.verdict(on: request, bodyLimit: nil) == .accepted(hasBody: false)
            #expect(isAccepted == tokens.contains(letter), "\(number)")
        }
    }

    @Test func `each rule of a request has its status`() {
        func status(_ fields: HTTPFields, version: String = "1.1", method: String = "GET") -> Int? {
            let request = HTTPServer.Request(method, "/", version: version, fields: fields)
            let verdict = RequestRules.verdict(on: request, bodyLimit: 10)
            return if case .refused(let status) = verdict { status } else { nil }
        }
        #expect(status(["Host": "a"]) == nil)
        #expect(status([:]) == 400)
        #expect(status([:], version: "1.0") == nil)
        #expect(status(["Host": "a"], method: "G@T") == 400)
        #expect(status(["Host": "a", "host": "b"]) == 400)
        #expect(status(["Host": "a", "Content-Length": "10"]) == nil)
        #expect(status(["Host": "a", "Content-Length": "11"]) == 413)
        #expect(status(["Host": "a", "Content-Length": ""]) == 400)
        #expect(status(["Host": "a", "Content-Length": "1x"]) == 400)
        #expect(status(["Host": "a", "Content-Length": "+1"]) == 400)
        #expect(status(["Host": "a", "Content-Length": "99999999999999999999"]) == 413)
        #expect(status(["Host": "a", "Content-Length": "18446744073709551617"]) == 413)
        #expect(status(["Host": "a", "Content-Length": "99999999999999999999x"]) == 400)
        #expect(status(["Host": "a", "Content-Length": "00000000000000000000010"]) == nil)
        #expect(status(["Host": "a", "Content-Length": "1", "Transfer-Encoding": "chunked"]) == 400)
        #expect(status(["Host": "a", "Transfer-Encoding": "CHUNKED"]) == nil)
        #expect(status(["Host": "a", "Transfer-Encoding": "gzip"]) == 501)
        #expect(status(["Host": "a", "X ": "1"]) == 400)
    }

    @Test func `a body follows a length and an encoding`() {
        func hasBody(_ fields: HTTPFields) -> RequestRules.Verdict {
            RequestRules.verdict(on: HTTPServer.Request("POST", "/", fields: fields), bodyLimit: nil)
        }
        #expect(hasBody(["Host": "a"]) == .accepted(hasBody: false))
        #expect(hasBody(["Host": "a", "Content-Length": "0"]) == .accepted(hasBody: false))
        #expect(hasBody(["Host": "a", "Content-Length": "9999"]) == .accepted(hasBody: true))
        #expect(hasBody(["Host": "a", "Transfer-Encoding": "chunked"]) == .accepted(hasBody: true))
    }

    @Test func `a request goes through its steps in one order`() {
        var state = ExchangeState()
        func next(_ hasBytes: Bool = false, asks: Bool = false, answered: Bool = false) -> ExchangeState.Step
        {
            state.next(hasBytes: hasBytes, asksFirst: asks, hasAnswer: answered)
        }
        #expect(next(asks: true) == .callHeaderHandler)
        #expect(next() == .wait)
        state.handlerReturned()
        #expect(next() == .goOn)
        #expect(next(true) == .takeBody)
        #expect(next(true, answered: true) == .takeBody)
        #expect(next() == .callRequestHandler)
        #expect(next() == .goOn, "the handler is due")
        state.handlerReturned()
        #expect(next() == .wait)
        #expect(next(answered: true) == .sendAnswer)
        #expect(next(answered: true) == .goOn, "one answer")
        state = ExchangeState()
        #expect(next() == .goOn)
        #expect(next(answered: true) == .sendAnswer)
        state = ExchangeState()
        #expect(next(answered: true) == .sendAnswer, "refused at once")
        state.end()
        #expect(state.hasEnded && next(answered: true) == .goOn)
    }

    @Test func `a body is limited when it is collected, and bounded when it is streamed`() {
        let bytes = [UInt8](repeating: 1, count: 60_000)
        var body = RequestBody()
        func take(_ limit: Int) -> RequestBody.Taking {
            // Safe: the bytes are copied during the call.
            unsafe bytes.withUnsafeBytes { unsafe body.take($0, limit: limit) }
        }
        #expect(take(100_000) == .taken && !body.isTooLong)
        #expect(take(100_000) == .taken && body.isTooLong && body.bytes.isEmpty)
        while take(100_000) == .taken {}
        #expect(body.isTooLong && body.bytes.isEmpty)
        body = RequestBody()
        body.isStreamed = true
        for _ in 0..<3 { #expect(take(1) == .taken) }
        #expect(take(1) == .full)
        #expect(body.giveBytes().count == 180_000)
        #expect(take(1) == .taken)
    }
}
