import Foundation
import Testing

extension Examples {
    /// The service of notes, with curl and a browser.
    @Suite(.serialized) struct NotesTests {
        /// A directory for the names and the database of one test.
        private let directory: String

        init() throws {
            directory =
                FileManager.default.temporaryDirectory.appending(path: "notes-\(UUID().uuidString)").path
            try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
            chmod(directory, 0o700)
        }

        private func start() throws -> ServerProcess {
            try ServerProcess(
                "notes-service", "--port", "0", "--database", "\(directory)/notes.db",
                environment: ["XDG_RUNTIME_DIR": directory])
        }

        private func removeDirectory() { try? FileManager.default.removeItem(atPath: directory) }

        /// Runs a program, and returns its output.
        private func run(_ name: String, _ arguments: [String]) throws -> String {
            let process = Process()
            process.executableURL = URL(filePath: "/usr/bin/env")
            process.arguments = [name] + arguments
            let output = Pipe()
            process.standardOutput = output
            process.standardError = FileHandle.nullDevice
            try process.run()
            let bytes = output.fileHandleForReading.readDataToEndOfFile()
            process.waitUntilExit()
            return String(decoding: bytes, as: UTF8.self)
        }

        private func curl(_ arguments: String...) throws -> String {
            try run("curl", ["-s", "--noproxy", "*", "--max-time", "20"] + arguments)
        }

        @Test func `notes are added and listed, and health and metrics are told`() throws {
            defer { removeDirectory() }
            let service = try start()
            let url = "http://127.0.0.1:\(try service.port())"
            #expect(try curl("\(url)/notes") == "[]")
            let added = try curl("-w", "%{http_code}", "-d", "one \"note\"", "\(url)/notes")
            #expect(added.hasSuffix("201"))
            let list = try curl("\(url)/notes")
            #expect(list.contains(#""text":"one \"note\"""#) && list.contains(#""id":1"#))
            #expect(try curl("\(url)/health") == "healthy\n")
            let metrics = try curl("\(url)/metrics")
            #expect(metrics.contains("run_loop_passes_total") && metrics.contains("loop=\"storage\""))
            #expect(try curl("-w", "%{http_code}", "-X", "DELETE", "\(url)/notes") == "405")
            #expect(try curl("-w", "%{http_code}", "\(url)/other") == "404")
            #expect(try curl("-w", "%{http_code}", "-d", "", "\(url)/notes").hasSuffix("400"))
            service.signal(SIGTERM)
            #expect(try service.end() == 0)
        }

        @Test func `services replace each other, and no request is refused or lost`() throws {
            defer { removeDirectory() }
            var service = try start()
            let port = try service.port()
            let isOver = Flag()
            let clients = (0..<2).map { number in
                Worker { () throws -> Int in
                    var count = 0
                    while !isOver.isSet {
                        let peer = try Peer(port: port)
                        let body = "\(number) \(count)"
                        try peer.send(
                            "POST /notes HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
                        )
                        let answer = try peer.line() ?? "none"
                        if !answer.hasPrefix("HTTP/1.1 201 ") { throw Failure("another answer: \(answer)") }
                        count += 1
                        peer.close()
                    }
                    return count
                }
            }
            let restarts = Examples.count(full: 100, small: 5)
            for _ in 0..<restarts {
                let old = service
                service = try start()
                #expect(try service.port() == port)
                #expect(try old.end() == 0)
            }
            isOver.set()
            let count = try clients.map { try $0.join() }.reduce(0, +)
            print("restarts: \(restarts), \(count) notes")
            #expect(count > restarts)
            service.signal(SIGTERM)
            #expect(try service.end() == 0)
        }

        @Test func `a browser shows notes as they come`() throws {
            defer { removeDirectory() }
            let service = try start()
            let url = "http://127.0.0.1:\(try service.port())"
            for number in 1...3 { _ = try curl("-d", "note \(number)", "\(url)/notes") }
            let browser = Process()
            browser.executableURL = URL(filePath: "/usr/bin/env")
            browser.arguments = [
                "chromium", "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                "--no-proxy-server", "--enable-logging=stderr", "--user-data-dir=\(directory)/profile",
                "--remote-debugging-port=0", "\(url)/",
            ]
            let (output, end) = try LineStream.make("browser")
            browser.standardError = FileHandle(fileDescriptor: end, closeOnDealloc: true)
            browser.standardOutput = FileHandle.nullDevice
            try browser.run()
            defer {
                // The browser can have inherited the blocked signals of the test's thread.
                kill(browser.processIdentifier, SIGKILL)
                browser.waitUntilExit()
            }
            _ = try output.line { $0.contains("3 notes, the last one: note 3") }
            _ = try curl("-d", "<b>late</b>", "\(url)/notes")
            _ = try output.line { $0.contains("4 notes, the last one: <b>late</b>") }
            service.signal(SIGTERM)
            #expect(try service.end() == 0)
        }
    }
}
