import Foundation
import Testing

/// The service, driven over its socket.
@Suite struct NotesTests {
    @Test func `notes are added and listed, and a request under way outlives the signal`() throws {
        let service = try Service("hummingbird-notes")
        let adding = try Client(service.port)
        try adding.send(post(#"{"text":"first"}"#))
        #expect(try adding.answer().hasPrefix("HTTP/1.1 201 Created\r\n"))
        let listing = try Client(service.port)
        try listing.send("GET /notes HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        let list = try listing.answer()
        #expect(list.hasPrefix("HTTP/1.1 200 OK\r\n") && list.contains(#""text":"first""#))

        // Half of a request has arrived when the service receives the signal.
        let slow = try Client(service.port)
        let request = post(#"{"text":"second"}"#)
        let half = request.index(request.startIndex, offsetBy: request.count - 5)
        try slow.send(String(request[..<half]))
        // SwiftNIO hands connections to its event loops in turn. When each loop has answered, one of them has read that half.
        for _ in 0..<64 {
            #expect(
                try Client(service.port).isAnswered(
                    "GET /health HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"))
        }
        service.signal(SIGTERM)
        service.waitUntilRefused()
        try slow.send(String(request[half...]))
        #expect(try slow.answer().hasPrefix("HTTP/1.1 201 Created\r\n"))
        #expect(service.wait() == 0)
    }

    @Test func `the article shows the code of the program`() throws {
        let root = #filePath.components(separatedBy: "Examples/BesideNIO").first ?? ""
        let program = "BesideNIO/Sources/hummingbird-notes"
        let sources = try [
            "\(program)/Storage", "\(program)/HummingbirdNotes", "Sources/NoteStorage/NoteStore",
        ].map {
            try String(contentsOfFile: root + "Examples/\($0).swift", encoding: .utf8)
        }.joined().filter { !$0.isWhitespace }
        let article = try String(
            contentsOfFile: root + "Sources/RunLoopsLifecycle/RunLoopsLifecycle.docc/BesideSwiftNIO.md",
            encoding: .utf8)
        let blocks = article.components(separatedBy: "```").enumerated().filter { $0.offset % 2 == 1 }
            .map(\.element).filter { $0.hasPrefix("swift\n") }
            .map { String($0.dropFirst(6)).filter { !$0.isWhitespace } }
        #expect(blocks.count >= 2)
        for block in blocks { #expect(sources.contains(block)) }
    }

    private func post(_ body: String) -> String {
        "POST /notes HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Type: application/json\r\n"
            + "Content-Length: \(body.utf8.count)\r\n\r\n" + body
    }
}
