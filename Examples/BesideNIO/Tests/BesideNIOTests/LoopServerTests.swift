import Foundation
import Testing

/// Hummingbird's router on a run loop, driven over its socket.
@Suite struct LoopServerTests {
    @Test func `requests reach an actor on the loop's thread, and one under way outlives the signal`() throws
    {
        let service = try Service("hummingbird-on-a-loop")
        for number in 1...20 {
            let client = try Client(service.port)
            try client.send("GET /count HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
            #expect(try client.answer().hasSuffix("\r\n\r\ncall \(number) on the loop's thread: true\n"))
        }
        let idle = try Client(service.port)
        let slow = try Client(service.port)
        try slow.send("POST /length HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n12345")
        // The loop has accepted both, and read that half, when it has answered a later connection.
        #expect(
            try Client(service.port).isAnswered("GET /count HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        )
        service.signal(SIGTERM)
        service.waitUntilRefused()
        #expect(try idle.answer() == "")
        try slow.send("67890")
        #expect(try slow.answer().hasSuffix("\r\n\r\n10 bytes\n"))
        #expect(service.wait() == 0)
    }

    @Test func `bad requests are refused, and the server goes on`() throws {
        let service = try Service("hummingbird-on-a-loop")
        let bad = try Client(service.port)
        try bad.send("GET / HTTP/1.1\r\nA b: c\r\n\r\n")
        #expect(try bad.answer().hasPrefix("HTTP/1.1 400 "))
        let unknown = try Client(service.port)
        try unknown.send("GET /nothing HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        #expect(try unknown.answer().hasPrefix("HTTP/1.1 404 "))
        service.signal(SIGTERM)
        #expect(service.wait() == 0)
    }
}
