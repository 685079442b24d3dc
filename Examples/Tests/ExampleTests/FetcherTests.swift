import Foundation
import Testing

extension Examples {
    /// The fetcher, against Python's server.
    @Suite(.serialized) struct FetcherTests {
        @Test func `a list is downloaded in parallel, and what fails is said`() throws {
            let directory = FileManager.default.temporaryDirectory.appending(
                path: "fetcher-\(UUID().uuidString)")
            try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(at: directory) }
            for number in 0..<20 {
                try Data(count: 100_000 + number).write(to: directory.appending(path: "\(number)"))
            }
            let server = Process()
            server.executableURL = URL(filePath: "/usr/bin/env")
            server.arguments = [
                "python3", "-u", "-c",
                """
                import functools, http.server
                handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory="\(directory.path)")
                server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
                print(server.server_address[1])
                server.serve_forever()
                """,
            ]
            let output = Pipe()
            server.standardOutput = output
            server.standardError = FileHandle.nullDevice
            try server.run()
            defer {
                // The server has inherited the blocked signals of the test's thread, so SIGTERM would not end it.
                kill(server.processIdentifier, SIGKILL)
                server.waitUntilExit()
            }
            var text = ""
            while !text.hasSuffix("\n") {
                let byte = try #require(
                    try output.fileHandleForReading.read(upToCount: 1), "the server did not start")
                text += String(decoding: byte, as: UTF8.self)
            }
            let port = text.dropLast()
            let urls = (0..<20).map { "http://127.0.0.1:\(port)/\($0)" }
            let fetcher = try ServerProcess("fetcher", "--list", urls.joined(separator: ","))
            #expect(
                try fetcher.output.line { $0.hasPrefix("complete:") }
                    == "complete: 20, failed: 0, 2000190 bytes")
            #expect(try fetcher.end() == 0)

            let failing = try ServerProcess("fetcher", "--list", urls[0] + ",http://127.0.0.1:\(port)/none")
            #expect(try failing.output.line { $0.hasPrefix("complete:") }.hasPrefix("complete: 1, failed: 1"))
            #expect(try failing.end() == 1)
        }
    }
}
