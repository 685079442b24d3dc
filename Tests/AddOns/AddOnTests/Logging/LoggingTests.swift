import Glibc
import InMemoryLogging
import Logging
import MessagePorts
import RunLoops
import RunLoopsLogging
import Testing

extension AddOns {
    @Suite struct LoggingTests {
        private let log = InMemoryLogHandler()

        private var logger: Logger {
            let log = log
            return Logger(label: "loops") { _ in log }
        }

        /// Performs a block that blocks the loop until a condition holds, and returns the place of the block in the source.
        private func block(_ thread: RunLoopThread, until condition: () -> Bool) async throws -> String {
            let released = Gate()
            thread.runLoop.perform { released.wait() }
            let place = "AddOnTests/LoggingTests.swift:\(#line - 1)"
            try await eventually(condition)
            released.open()
            try await thread.runLoop.performAndWait {}
            return place
        }

        @Test func `a watchdog logs a blocked loop three times, with all that it knows`() async throws {
            let watchdog = try RunLoopWatchdog(threshold: .milliseconds(20), logger: logger)
            try await withThread("blocked") { thread in
                var hasArrived = false
                let place = try await block(thread) {
                    // The watchdog counts the messages that arrive after its first report.
                    if !hasArrived && !log.entries.isEmpty { hasArrived = thread.runLoop.perform {} }
                    return log.entries.count >= 2
                }
                try await eventually { log.entries.last?.level == .notice }
                let entries = log.entries
                #expect(entries.count >= 3)
                #expect(entries[0].level == .warning && entries[0].message == "A handler blocks its loop")
                #expect(entries[1].level == .error && entries[1].message == "A handler still blocks its loop")
                #expect(entries.last?.message == "A handler that blocked its loop has returned")
                let metadata = try #require(entries.first).metadata
                #expect(metadata["run-loop"] == "blocked" && metadata["handler"] == "block")
                #expect(
                    metadata["thread"] == "\(thread.runLoop.threadID)" && metadata["made-at"] == "\(place)")
                let times = entries.map { Int("\($0.metadata["milliseconds"] ?? "")") ?? 0 }
                #expect(times[0] >= 20 && times[1] >= 2 * times[0])
                #expect(Int("\(entries.last?.metadata["arrivals"] ?? "")") ?? 0 >= 1)
                #expect(metadata["timer-delay-milliseconds"] == nil)
            }
            watchdog.stop()
        }

        @Test func `a timer that is late is in the metadata`() async throws {
            let watchdog = try RunLoopWatchdog(threshold: .milliseconds(10), logger: logger)
            try await withThread("late") { thread in
                try await thread.runLoop.performAndWait {
                    Timer.scheduledTimer(withTimeInterval: .milliseconds(30), repeats: false) { _ in }
                    return
                }
                _ = try await block(thread) {
                    log.entries.contains { $0.metadata["timer-delay-milliseconds"] != nil }
                }
            }
            watchdog.stop()
        }

        @Test func `a slow handler is logged once, with metadata that its snapshot gives`() async throws {
            let recorder = try FlightRecorder(detail: .everything)
            defer { recorder.stop() }
            let seen = Gate()
            try recorder.logSlowHandlers(over: .milliseconds(10), to: logger) { snapshot in
                let slow = snapshot.threads.flatMap(\.events).filter {
                    ($0.duration ?? .zero) >= .milliseconds(40)
                }
                let places = Set(slow.filter { $0.kind == .handler(.block) }.map(\.place))
                seen.open()
                return ["slow-places": "\(places.sorted().joined(separator: ","))", "handler": "mine"]
            }
            try await withThread("slow") { thread in
                let start = ContinuousClock.now
                let place = try await block(thread) { ContinuousClock.now > start + .milliseconds(60) }
                try await eventually { !log.entries.isEmpty }
                let entry = try #require(log.entries.first)
                #expect(entry.level == .warning && entry.message == "A handler was slow")
                #expect(entry.metadata["slow-places"] == "\(place)")
                #expect(entry.metadata["made-at"] == "\(place)" && entry.metadata["run-loop"] == "slow")
                // The metadata of the program replace those of the package.
                #expect(entry.metadata["handler"] == "mine")
                #expect(log.entries.count == 1)
            }
            seen.wait()
        }

        // Guarantees: No loop waits for a logger.
        @Test func `a logger that blocks keeps no loop from its work`() async throws {
            let (asked, released) = (Gate(), Gate())
            let logger = Logger(label: "slow") { _ in BlockingHandler(asked: asked, released: released) }
            let watchdog = try RunLoopWatchdog(threshold: .milliseconds(5), logger: logger)
            RunLoopDiagnostics.log(to: logger)
            defer { RunLoopDiagnostics.handler = nil }
            try await withThread("logged") { thread in
                _ = try await block(thread) {
                    asked.wait()
                    return true
                }
                // The logger still blocks.
                for _ in 0..<100 { try await thread.runLoop.performAndWait {} }
                released.open()
            }
            watchdog.stop()
        }

        // Guarantees: A report about a peer has the port, the process and the user in its metadata.
        @Test func `what a port says of a peer has the port and the peer in its metadata`() async throws {
            RunLoopDiagnostics.log(to: logger, level: .error)
            defer { RunLoopDiagnostics.handler = nil }
            var limits = MessagePort.Options()
            limits.connectionLimitPerProcess = 1
            let name = try PortName("@run-loops-logging-\(getpid())")
            let port = try MessagePort(named: name, options: limits)
            try await withThread("server") { thread in
                try await thread.runLoop.performAndWait {
                    try RunLoop.current.add(port, forMode: .default) { _ in }
                }
                let first = try RemotePort(named: name)
                #expect(throws: MessagePortError.self) { try RemotePort(named: name) }
                try await eventually { !log.entries.isEmpty }
                let entry = try #require(log.entries.first)
                #expect(entry.level == .error)
                #expect("\(entry.message)".contains("has as many connections as it may have"))
                #expect(entry.metadata["port"] == "\(name)")
                #expect(entry.metadata["peer-process"] == "\(getpid())")
                #expect(entry.metadata["peer-user"] == "\(geteuid())")
                _ = first
                port.invalidate()
            }
        }
    }
}

/// A log handler that blocks until a gate is opened.
private struct BlockingHandler: LogHandler {
    let asked: Gate
    let released: Gate
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.info

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        asked.open()
        released.wait()
    }
}
