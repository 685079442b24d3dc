import TestExpectations
import TestSupport
import Testing

@testable import RunLoops

/// A task of an actor on a loop that waits goes on there when it is let go on: no thread of the default executor takes part.
@Suite struct AwaitedAnswerTests {
    private actor Client: RunLoopActor {
        nonisolated let runLoop: RunLoop
        init(_ runLoop: RunLoop) { self.runLoop = runLoop }

        /// Makes requests, and returns the number of right answers that came on the actor's thread.
        func ask(_ port: Port<Question<Int>>, times: Int) async -> Int {
            var right = 0
            for number in 0..<times {
                let answer = try? await port.request { Question(number: number, reply: $0) }
                if answer == number && runLoop.isCurrent { right += 1 }
            }
            return right
        }

        func perform(on other: RunLoop, times: Int) async -> Int {
            var right = 0
            for number in 0..<times {
                let result = try? await other.performAndWait { number }
                if result == number && runLoop.isCurrent { right += 1 }
            }
            return right
        }

        /// Returns how the request ended: 1 answered, 2 cancelled, 3 the port was invalid; 0 otherwise, or on another thread.
        func outcome(of port: Port<Question<Int>>) async -> Int {
            do {
                _ = try await port.request { Question(number: 1, reply: $0) }
                return runLoop.isCurrent ? 1 : 0
            } catch RequestError.Reason.cancelled {
                return runLoop.isCurrent ? 2 : 0
            } catch RequestError.Reason.invalid, RequestError.Reason.noReply {
                return runLoop.isCurrent ? 3 : 0
            } catch { return 0 }
        }
    }

    private func withServer(
        _ body: (Client, Port<Question<Int>>, RunLoopThread) async throws -> Void
    ) async throws {
        try await withLoopThread { home in
            try await withLoopThread { server in
                let port = Port<Question<Int>>()
                try await server.runLoop.performAndWait {
                    RunLoop.current.add(port, forMode: .common) { $0.reply.reply($0.number) }
                }
                try await body(Client(home.runLoop), port, server)
            }
        }
    }

    @Test func `requests and blocks that an actor on a loop awaits enter no other executor`() async throws {
        try await withServer { client, port, server in
            // Other tests' tasks may run meanwhile; a wait that entered the default executor would do so each time.
            let before = DefaultExecutor.jobs
            #expect(await client.ask(port, times: 1_000) == 1_000)
            let between = DefaultExecutor.jobs
            #expect(await client.perform(on: server.runLoop, times: 1_000) == 1_000)
            guard let before, let between, let after = DefaultExecutor.jobs else { return }
            #expect(between - before < 100)
            #expect(after - between < 100)
        }
    }

    @Test func `a task that prefers a loop goes on there, too`() async throws {
        try await withServer { _, port, _ in
            try await withLoopThread { thread in
                let loop = thread.runLoop
                let right = await Task(executorPreference: loop.taskExecutor) {
                    var right = 0
                    let before = DefaultExecutor.jobs
                    for number in 0..<1_000 {
                        let answer = try? await port.request { Question(number: number, reply: $0) }
                        if answer == number && loop.isCurrent { right += 1 }
                    }
                    if let before, let after = DefaultExecutor.jobs { #expect(after - before < 100) }
                    return right
                }.value
                #expect(right == 1_000)
            }
        }
    }

    @Test func `an answer and a cancellation race, and each request ends once, on its loop`() async throws {
        try await withServer { client, port, _ in
            var outcomes = [0, 0, 0, 0]
            for round in 0..<500 {
                let task = Task { await client.outcome(of: port) }
                for _ in 0..<round % 7 { await Task.yield() }
                task.cancel()
                outcomes[await task.value] += 1
            }
            #expect(outcomes[0] == 0 && outcomes[3] == 0)
            #expect(outcomes[1] + outcomes[2] == 500)
        }
    }

    @Test func `an answer and the end of the server's loop race, and each request ends once`() async throws {
        try await withLoopThread { home in
            let client = Client(home.runLoop)
            for _ in 0..<100 {
                let server = try RunLoopThread(name: "server")
                let port = Port<Question<Int>>()
                try await server.runLoop.performAndWait {
                    RunLoop.current.add(port, forMode: .common) { $0.reply.reply($0.number) }
                }
                async let outcome = client.outcome(of: port)
                server.stop()
                await server.join()
                port.invalidate()
                let end = await outcome
                #expect(end == 1 || end == 3)
            }
        }
    }
}
