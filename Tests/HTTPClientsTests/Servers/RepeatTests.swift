import Glibc
import RunLoops
import TestExpectations
import TestSupport
import Testing

@testable import HTTPClients

/// Connections that the server closes while a request is on its way.
@Suite struct RepeatTests {
    /// Answers the first request of a connection, and closes the connection at the second one, without an answer.
    private static func closeAtSecond() -> @Sendable (Exchange) throws -> Void {
        { exchange in
            _ = try exchange.body()
            if exchange.number > 1 { return exchange.close() }
            try exchange.answer()
        }
    }

    // Guarantees: A request is sent again only if its method allows that, however its connection ends.
    @Test(arguments: ["POST", "PATCH", "PROPFIND", "post"] as [HTTPRequest.Method])
    func `a request that may have been carried out is not sent again`(method: HTTPRequest.Method) throws {
        try withServer(RepeatTests.closeAtSecond()) { client, server in
            for body in [
                HTTPClient.Request.Body.none, .bytes([1, 2]), .bytes([UInt8](repeating: 1, count: 70_000)),
            ] {
                #expect(client.fetch(server.url("/first")).error == nil)
                let outcome = client.fetch(HTTPClient.Request(server.url("/pay"), method: method, body: body))
                guard outcome.error?.reason == .connectionLost else {
                    Issue.record("\(method): \(outcome.error.map { "\($0)" } ?? "no error")")
                    return
                }
                #expect(outcome.calls == ["end"])
            }
            #expect(server.requests.entries.count { $0.contains("/pay") } == 3)
        }
    }

    @Test(arguments: ["POST", "PATCH"] as [HTTPRequest.Method])
    func `a stream and a file are not sent again`(method: HTTPRequest.Method) throws {
        try withServer(RepeatTests.closeAtSecond()) { client, server in
            #expect(client.fetch(server.url("/first")).error == nil)
            let (transfer, outcome) = client.record(
                HTTPClient.Request(server.url("/pay"), method: method, body: .stream(contentLength: 3)))
            transfer.write([1, 2, 3])
            transfer.endBody()
            client.loop.run(in: .network, until: "it has ended") { outcome.hasEnded }
            #expect(outcome.error != nil && outcome.calls == ["end"])
            #expect(client.fetch(server.url("/first")).error == nil)
            let file = try OwnedDescriptor.memory(name: "body")
            #expect(unsafe write(file.descriptor, [1, 2, 3] as [UInt8], 3) == 3)
            lseek(file.descriptor, 0, SEEK_SET)
            let second = Outcome()
            client.start(HTTPClient.Request(server.url("/pay"), method: method), uploading: file) {
                second.watch($0)
            }
            client.loop.run(in: .network, until: "it has ended") { second.hasEnded }
            #expect(second.error != nil && second.calls == ["end"])
            #expect(server.requests.entries.count { $0.contains("/pay") } == 2)
        }
    }

    /// When the kept connection ends, libcurl needs an address to connect again, which it has forgotten by then.
    @Test(arguments: ["POST", "GET", "PUT"] as [HTTPRequest.Method])
    func `a request whose address must be looked up again is sent again only if it may be repeated`(
        method: HTTPRequest.Method
    )
        throws
    {
        try withServer(RepeatTests.closeAtSecond()) { client, server in
            let url = "http://a.found.test:\(server.port)/"
            #expect(client.fetch(url).error == nil)
            let outcome = Outcome()
            let body: HTTPClient.Request.Body =
                method == "PUT" ? .bytes([UInt8](repeating: 1, count: 100_000)) : .none
            client.start(HTTPClient.Request(url, method: method, body: body)) { transfer in
                outcome.watch(transfer)
                // Makes libcurl forget the address.
                transfer.contents.hop.names.proxy = .found("-a.found.test:\(server.port)")
            }
            client.loop.run(in: .network, until: "it has ended") { outcome.hasEnded }
            if method == "POST" {
                guard outcome.error?.reason == .connectionLost else {
                    Issue.record("\(outcome.error.map { "\($0)" } ?? "complete")")
                    return
                }
            } else {
                #expect(outcome.error == nil)
            }
            #expect(
                server.requests.entries.count { $0.hasPrefix("\(method) ") }
                    == (method == "GET" ? 3 : method == "PUT" ? 2 : 1))
        }
    }

    /// libcurl counts in a handle how often it has sent a request again, and gives up after five times.
    @Test(arguments: ["GET", "HEAD", "PUT", "DELETE", "OPTIONS"] as [HTTPRequest.Method])
    func `a request that may be repeated is sent again, in each of many transfers`(method: HTTPRequest.Method)
        throws
    {
        try withServer(RepeatTests.closeAtSecond()) { client, server in
            for number in 0..<30 {
                let outcome = client.fetch(HTTPClient.Request(server.url("/"), method: method))
                #expect(outcome.error == nil && outcome.response?.status == 200, "transfer \(number)")
            }
            #expect(server.connections.count == 30)
        }
    }

    @Test func `a server that closes each connection at once gets a limited number of requests`() throws {
        try withServer({ exchange in
            if exchange.path == "/first" { return try exchange.answer() }
            exchange.close()
        }) { client, server in
            #expect(client.fetch(server.url("/first")).error == nil)
            #expect(client.fetch(server.url("/")).error != nil)
            #expect(server.requests.entries.count <= 7)
        }
    }

    /// curl's command shows the answer or reports the connection, too; the order in which the kernel reports both is not fixed.
    @Test
    func `an early refusal of a long body is the answer or a lost connection, and never complete without it`()
        throws
    {
        try withServer({ exchange in
            try exchange.answer("403 Forbidden", "Connection: close", Array("no".utf8))
            exchange.close()
        }) { client, server in
            var answers = 0
            for _ in 0..<32 {
                let body = HTTPClient.Request.Body.bytes([UInt8](repeating: 1, count: 4 << 20))
                let outcome = client.fetch(HTTPClient.Request(server.url("/"), method: "POST", body: body))
                switch outcome.error?.reason {
                case nil:
                    #expect(outcome.response?.status == 403 && outcome.text == "no")
                    answers += 1
                case .connectionLost: #expect(outcome.response == nil || outcome.response?.status == 403)
                default: Issue.record("\(outcome.error.map { "\($0)" } ?? "")")
                }
            }
            #expect(answers > 0)
        }
    }
}
