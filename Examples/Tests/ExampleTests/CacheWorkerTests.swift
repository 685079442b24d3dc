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

            init(_ directory: URL) throws {
                let programs = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
                    .deletingLastPathComponent()
                process.executableURL = programs.appending(path: "cache-worker")
                process.arguments = ["--database", directory.appending(path: "users").path]
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

        @Test func `a change in one worker is forgotten by all, also after the one with the hub was killed`()
            throws
        {
            let directory = FileManager.default.temporaryDirectory.appending(
                path: "cache-\(UUID().uuidString)")
            try FileManager.default.createDirectory(
                at: directory.appending(path: "users"), withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o700])
            try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: directory.path)
            defer { try? FileManager.default.removeItem(at: directory) }
            var workers: [Worker] = []
            for _ in 0..<4 {
                let worker = try Worker(directory)
                workers.append(worker)
                // A worker caches once its subscription is confirmed.
                try worker.tell("set 1 Eve")
                while try worker.line() != "forgot 1" {}
            }
            defer { for worker in workers { worker.kill9() } }
            try workers[0].tell("set 7 Ann")
            for worker in workers {
                while try worker.line() != "forgot 7" {}
                try worker.tell("get 7")
                #expect(try worker.line() == "7 is Ann (read)")
                try worker.tell("get 7")
                #expect(try worker.line() == "7 is Ann (cached)")
            }
            // The first worker serves the hub.
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
    }
}
