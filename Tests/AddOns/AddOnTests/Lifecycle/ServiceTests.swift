import Glibc
import Inspection
import Logging
import RunLoops
import RunLoopsLifecycle
import ServiceLifecycle
import ServiceLifecycleTestKit
import Streams
import Synchronization
import Testing
import UnixSignals

extension AddOns {
    @Suite struct ServiceTests {
        /// Runs a service until the body returns, shuts the service down gracefully, and waits until it has ended.
        private func run(_ service: any Service, until body: () async throws -> Void) async throws {
            try await testGracefulShutdown { trigger in
                try await withThrowingTaskGroup { group in
                    group.addTask { try await service.run() }
                    try await body()
                    trigger.triggerGracefulShutdown()
                    try await group.waitForAll()
                }
            }
        }

        /// Sends a line to a server, and returns its answer.
        private func ask(_ address: SocketAddress, _ line: String) async throws -> String? {
            try await withThread("client") { thread in
                let answers = Log()
                try await thread.runLoop.performAndWait {
                    let connection = Connection(
                        connectingTo: .tcp(host: "127.0.0.1", port: address.port ?? 0))
                    connection.onFrame(.lines()) { connection, line in
                        answers.add("got \(line.byteCount) bytes")
                        connection.closeAfterWriting()
                    }
                    connection.onEnd { _, _ in answers.add("end") }
                    connection.write(line + "\n")
                    try RunLoop.current.add(connection, forMode: .default)
                }
                try await eventually { answers.entries.last == "end" }
                return answers.entries.dropLast().last
            }
        }

        /// Sends every line back.
        private static func echo(_ accepted: consuming AcceptedSocket) {
            let connection = Connection(accepted)
            connection.onFrame(.lines()) { connection, line in
                connection.write(line)
                connection.write("\n")
            }
            try? RunLoop.current.add(connection, forMode: .default)
        }

        // Guarantees: A thread that is shut down runs the blocks that were performed on its loop before.
        // Guarantees: A service of a thread returns when the thread has ended its loop.
        @Test
        func `a thread that is shut down runs the blocks that it has, and has ended when its service has`()
            async throws
        {
            let thread = try RunLoopThread(name: "worker")
            let log = Log()
            let (entered, released) = (Gate(), Gate())
            thread.runLoop.perform {
                entered.open()
                released.wait()
            }
            thread.runLoop.perform { log.add("waiting block") }
            try await run(thread) {
                entered.wait()
                thread.runLoop.addEndLog(log)
                released.open()
            }
            #expect(log.entries == ["waiting block", "last block", "end"])
            #expect(await thread.join(before: .now))
        }

        @Test func `a cancelled thread ends after its pass, without the blocks that wait`() async throws {
            let thread = try RunLoopThread(name: "cancelled")
            let log = Log()
            let (entered, released) = (Gate(), Gate())
            thread.runLoop.perform {
                RunLoop.current.addEndHandler { log.add("end") }
                entered.open()
                released.wait()
                log.add("handler")
            }
            entered.wait()
            // In the pass after that of the handler, which is finished.
            thread.runLoop.perform { log.add("waiting block") }
            // The service waits when `immediate` returns.
            let service = Task.immediate { await thread.run() }
            service.cancel()
            released.open()
            await service.value
            #expect(log.entries == ["handler", "end"])
            #expect(await thread.join(before: .now))
        }

        @Test func `a thread that other code ends ends its service`() async throws {
            let thread = try RunLoopThread(name: "short")
            let service = Task { await thread.run() }
            thread.stop()
            await service.value
            // A service that begins after the end of the thread ends, too.
            await thread.run()
        }

        // Guarantees: A listener that is shut down accepts no more connections, and its service returns when the last connection
        // has ended.
        @Test func `a listener serves until the shutdown, refuses then, and ends with its last connection`()
            async throws
        {
            try await withThread("server") { thread in
                let log = Log()
                let service = try ListenerService(
                    .tcp(host: "127.0.0.1", port: 0), on: thread.runLoop, onShutdown: { log.add("shutdown") },
                    handler: Self.echo)
                let address = service.localAddress
                let client = try Loopback.connect(to: address)
                try await run(service) {
                    let answer = try await ask(address, "hello")
                    #expect(answer == "got 5 bytes")
                    // The answer shows that the connection was accepted.
                    #expect(client.exchange("first"))
                    Task {
                        try await eventually { log.entries == ["shutdown"] }
                        #expect(throws: Loopback.Refused.self) { _ = try Loopback.connect(to: address) }
                        #expect(client.exchange("second"))
                        log.add("closing")
                        client.close()
                    }
                }
                #expect(log.entries == ["shutdown", "closing"])
            }
        }

        @Test func `a listener whose service is cancelled is closed, and its connections go on`() async throws
        {
            try await withThread("server") { thread in
                let service = try ListenerService(
                    .tcp(host: "127.0.0.1", port: 0), on: thread.runLoop, handler: Self.echo)
                let client = try Loopback.connect(to: service.localAddress)
                let task = Task { try await service.run() }
                #expect(client.exchange("first"))
                task.cancel()
                try await task.value
                try await thread.runLoop.performAndWait {}
                #expect(throws: Loopback.Refused.self) { _ = try Loopback.connect(to: service.localAddress) }
                #expect(client.exchange("second"))
                client.close()
            }
        }

        @Test func `a listener whose loop ends ends its service, and one on an ended loop says so`()
            async throws
        {
            let thread = try RunLoopThread(name: "server")
            let service = try ListenerService(
                .tcp(host: "127.0.0.1", port: 0), on: thread.runLoop, handler: Self.echo)
            let task = Task { try await service.run() }
            let client = try Loopback.connect(to: service.localAddress)
            #expect(client.exchange("first"))
            thread.stop()
            try await task.value
            client.close()
            let late = try ListenerService(
                .tcp(host: "127.0.0.1", port: 0), on: thread.runLoop, handler: Self.echo)
            await #expect(throws: PerformError.self) { try await late.run() }
        }

        @Test func `an inspector answers until the shutdown`() async throws {
            let inspector = try Inspector()
            try await run(inspector) {
                let report = try await withThread("looker") { thread in
                    try await thread.runLoop.performAndWait {
                        try RemoteInspector(processID: getpid()).report().processID
                    }
                }
                #expect(report == getpid())
            }
            // The name of the inspector is free again.
            try Inspector().stop()
        }

        @Test func `a group shuts everything down on a signal, the listener first`() async throws {
            let thread = try RunLoopThread(name: "worker")
            let log = Log()
            let listener = try ListenerService(
                .tcp(host: "127.0.0.1", port: 0), on: thread.runLoop, onShutdown: { log.add("listener") },
                handler: Self.echo)
            thread.runLoop.perform { RunLoop.current.addEndHandler { log.add("thread") } }
            let group = ServiceGroup(
                services: [try Inspector(), thread, listener], gracefulShutdownSignals: [.sigusr1],
                logger: Logger(label: "group") { _ in SwiftLogNoOpLogHandler() })
            let run = Task { try await group.run() }
            let answer = try await ask(listener.localAddress, "hello")
            #expect(answer == "got 5 bytes")
            kill(getpid(), SIGUSR1)
            try await run.value
            #expect(log.entries == ["listener", "thread"])
        }

        @Test func `a listener service that runs twice ends the program with advice`() async throws {
            let result = try await #require(
                processExitsWith: .failure, observing: [\.standardErrorContent]
            ) {
                let thread = try RunLoopThread(name: "server")
                let service = try ListenerService(.tcp(host: "127.0.0.1", port: 0), on: thread.runLoop) { _ in
                }
                let task = Task { try await service.run() }
                task.cancel()
                _ = await task.result
                try await service.run()
            }
            let message = String(decoding: result.standardErrorContent, as: UTF8.self)
            #expect(message.contains("ListenerService.run: the service runs a second time"))
        }
    }
}

extension RunLoop {
    /// Performs a block that logs, and logs the end of the thread.
    fileprivate func addEndLog(_ log: Log) {
        perform {
            RunLoop.current.addEndHandler { log.add("end") }
            log.add("last block")
        }
    }
}
