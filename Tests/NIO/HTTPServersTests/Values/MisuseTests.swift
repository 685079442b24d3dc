import HTTPServers
import RunLoops
import Streams
import TestExpectations
import TestSupport
import Testing

/// Misuse ends the program with a message.
@Suite struct MisuseTests {
    @Test func `an answer that was not begun takes no bytes`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            try withServer(handler: { $0.write("x") }) { _ = try curl($0.url("/")) }
        }
        #expect(result?.message.contains("HTTPExchange.write: the response to GET / was not begun") == true)
    }

    @Test func `a body that is collected is not streamed`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            try withServer(handler: { $0.onData { _, _ in } }) { _ = try curl($0.url("/")) }
        }
        #expect(result?.message.contains("HTTPExchange.onData: the body is collected already") == true)
    }

    @Test func `a count is not negative`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            try withServer(handler: { $0.beginResponse(contentLength: -1) }) { _ = try curl($0.url("/")) }
        }
        #expect(result?.message.contains("HTTPExchange.beginResponse: the length -1 is negative") == true)
    }

    @Test(arguments: ["", "/", "web socket", "a/b/c"])
    func `a protocol has a name that HTTP allows`(name: String) async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            [name] in
            try withServer(handler: { $0.upgrade(to: name) { _ in } }) { _ = try curl($0.url("/")) }
        }
        #expect(result?.message.contains("\(name.debugDescription) is no name of a protocol") == true)
    }

    @Test func `a server that stops has no socket to duplicate`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            try withServer { server in
                let client = try Client(server.port)
                client.send("GET / HTTP/1.1\r\n")
                waitUntil("it has begun") { (try? server.perform { $0.statistics.requests }) == 1 }
                try server.perform { server in
                    server.stop()
                    _ = try server.duplicateSocket()
                }
            }
        }
        #expect(result?.message.contains("HTTPServer.duplicateSocket: the HTTP server at") == true)
    }

    @Test func `a server belongs to one thread`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let thread = try RunLoopThread(name: "other")
            try thread.runLoop.add(HTTPServer(.tcp(port: 0)), forMode: .default) { _ in }
        }
        #expect(result?.message.contains("RunLoop.add(server)") == true)
    }
}
