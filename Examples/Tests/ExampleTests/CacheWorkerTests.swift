import Foundation
import Testing

extension Examples {
    /// Four workers that share a database.
    @Suite(.serialized) struct CacheWorkerTests {
        /// A worker, with its standard input and output.
        private final class Worker {
            let process = Process()
            private let input = Pipe()
            private let output = Pipe()

            init(_ directory: URL, program: String = "cache-worker", _ arguments: [String] = []) throws {
                let programs = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
                    .deletingLastPathComponent()
                process.executableURL = programs.appending(path: program)
                process.arguments = ["--database", directory.appending(path: "users").path] + arguments
                process.environment = ProcessInfo.processInfo.environment.merging(
                    ["XDG_RUNTIME_DIR": directory.path]
                ) { $1 }
                process.standardInput = input
                process.standardOutput = output
                try process.run()
            }

            func tell(_ command: String) throws {
                try input.fileHandleForWriting.write(contentsOf: Data((command + "\n").utf8))
            }

            /// The next line of the output.
            func line() throws -> String {
                var text = ""
                while !text.hasSuffix("\n") {
                    let byte = try #require(
                        try output.fileHandleForReading.read(upToCount: 1), "the worker has ended")
                    text += String(decoding: byte, as: UTF8.self)
                }
                return String(text.dropLast())
            }

            func end() throws {
                try input.fileHandleForWriting.close()
                process.waitUntilExit()
            }

            func kill9() {
                kill(process.processIdentifier, SIGKILL)
                process.waitUntilExit()
            }
        }

        /// Calls a closure with a new directory, which only this user can read.
        private func withDirectory(_ body: (URL) throws -> Void) throws {
            let directory = FileManager.default.temporaryDirectory.appending(
                path: "cache-\(UUID().uuidString)")
            try FileManager.default.createDirectory(
                at: directory.appending(path: "users"), withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o700])
            try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: directory.path)
            defer { try? FileManager.default.removeItem(at: directory) }
            try body(directory)
        }

        /// Expects that all workers forget a user that one worker changes, before and after one worker is killed.
        private func expectForgotten(by start: () throws -> Worker) throws {
            var workers: [Worker] = []
            defer { for worker in workers { worker.kill9() } }
            for _ in 0..<4 {
                let worker = try start()
                workers.append(worker)
                // A worker caches users only after its subscription is confirmed.
                try worker.tell("set 1 Eve")
                while try worker.line() != "forgot 1" {}
            }
            try workers[0].tell("set 7 Ann")
            for worker in workers {
                while try worker.line() != "forgot 7" {}
                try worker.tell("get 7")
                #expect(try worker.line() == "7 is Ann (read)")
                try worker.tell("get 7")
                #expect(try worker.line() == "7 is Ann (cached)")
            }
            // If the workers have a hub, the first worker serves it.
            workers.removeFirst().kill9()
            try workers[0].tell("set 7 Bob")
            for worker in workers {
                while try worker.line() != "forgot 7" {}
                try worker.tell("get 7")
                #expect(try worker.line() == "7 is Bob (read)")
            }
            for worker in workers { try worker.end() }
            #expect(workers.allSatisfy { $0.process.terminationStatus == 0 })
        }

        @Test func `a change in one worker is forgotten by all, also after the one with the hub was killed`()
            throws
        {
            try withDirectory { directory in try expectForgotten { try Worker(directory) } }
        }

        @Test func `the same workers meet at a Redis server, with another engine`() throws {
            try withDirectory { directory in
                let socket = directory.appending(path: "redis.sock").path
                let server = Process()
                server.executableURL = URL(filePath: "/usr/bin/redis-server")
                server.arguments = [
                    "--port", "0", "--unixsocket", socket, "--save", "", "--dir", directory.path,
                ]
                let output = Pipe()
                server.standardOutput = output
                try server.run()
                defer {
                    // The server has inherited the blocked signals of a thread of the pool, so SIGTERM would not end it.
                    kill(server.processIdentifier, SIGKILL)
                    server.waitUntilExit()
                }
                var text = ""
                while !text.contains("eady to accept connections") {
                    let data = output.fileHandleForReading.availableData
                    try #require(!data.isEmpty, "the server has ended: \(text)")
                    text += String(decoding: data, as: UTF8.self)
                }
                try expectForgotten {
                    try Worker(directory, program: "redis-cache-worker", ["--socket", socket])
                }
            }
        }
    }
}
