import HTTPClients
import RunLoops
import TestExpectations
import TestSupport
import Testing

/// Options and requests with extreme numbers.
@Suite struct NumberTests {
    @Test(arguments: [
        Duration.seconds(Int64.max), .seconds(Int64.max / 2), .milliseconds(Int32.max), .seconds(1 << 40),
    ])
    func `a time limit may be as long as a duration can be`(limit: Duration) throws {
        try withServer(
            options: .local {
                $0.connectTimeout = limit
                $0.idleTimeout = limit
            }
        ) { client, server in
            var request = HTTPClient.Request(server.url("/"))
            request.timeout = limit
            #expect(client.fetch(request).error == nil)
            #expect(client.fetch("http://localhost:\(server.port)/").error == nil)
        }
    }

    @Test(arguments: [Duration.zero, .seconds(-1), .seconds(Int64.min), .nanoseconds(1)])
    func `a time limit that has passed ends the transfer with a time-out`(limit: Duration) throws {
        try withServer({ $0.waitForEnd() }) { client, server in
            var request = HTTPClient.Request(server.url("/"))
            request.timeout = limit
            #expect(client.fetch(request).error?.timeout == .total)
        }
    }

    @Test(arguments: [nil, "gzip"])
    func `a limit in bytes may be as large as a number can be`(coding: String?) throws {
        // An empty body in the coding gzip.
        let body: [UInt8] =
            coding == nil ? [] : [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0]
        try withServer(
            { try $0.answer("200 OK", coding.map { "Content-Encoding: \($0)" } ?? "X: y", body) },
            options: .local {
                ($0.bodyLimit, $0.inputLimit, $0.headerLimit) = (.max, .max, .max)
                ($0.connectionLimit, $0.connectionLimitPerHost, $0.redirectLimit) = (.max, .max, .max)
            }
        ) { client, server in
            let outcome = client.fetch(server.url("/"))
            #expect(outcome.error == nil && outcome.body.isEmpty)
        }
    }

    @Test func `a body with a negative count is an invalid request`() throws {
        try withServer { client, server in
            let request = HTTPClient.Request(server.url("/"), method: "PUT", body: .stream(contentLength: -5))
            guard client.fetch(request).error?.reason == .invalidRequest else {
                Issue.record("it was sent")
                return
            }
        }
    }

    @Test func `a request whose method expects a body states its length, even if there is none`() throws {
        try withServer { client, server in
            for method in [.post, .put, .patch, .get, .head, .delete, .options] as [HTTPRequest.Method] {
                let outcome = client.fetch(HTTPClient.Request(server.url("/"), method: method))
                #expect(outcome.error == nil && outcome.response?.status == 200)
                let head = server.requests.entries.last ?? ""
                let expects = ["POST", "PUT", "PATCH"].contains(method)
                #expect(head.hasPrefix("\(method) / "))
                #expect(head.contains("Content-Length: 0\r\n") == expects, "\(method)")
                #expect(!head.contains("Content-Type") && !head.contains("Expect"))
            }
        }
    }
}
