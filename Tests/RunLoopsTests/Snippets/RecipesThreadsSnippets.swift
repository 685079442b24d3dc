import CSQLite
import Glibc
import RunLoops
import Synchronization
import TestSupport
import Testing

/// The code of the article "Recipes for threads".
@Suite(.disabled(if: ForcedRecording.isOn)) struct RecipesThreadsSnippets {
    final class ThreadBound<Value>: Sendable {
        private final class Box: @unchecked Sendable {
            // Safe: only code on the thread uses it.
            var value: Value?
        }

        private let thread: RunLoopThread
        private let box = Box()

        init(name: String, _ make: @escaping @Sendable () throws -> Value) throws {
            thread = try RunLoopThread(name: name)
            do {
                try thread.runLoop.performAndWait { [box] in box.value = try make() }
            } catch {
                thread.stop()
                throw error
            }
        }

        func callAsFunction<Result: Sendable>(
            _ body: @escaping @Sendable (Value) throws -> Result
        ) async throws -> Result {
            try await thread.runLoop.performAndWait { [box] in
                guard let value = box.value else {
                    preconditionFailure("init has set it, and deinit is later")
                }
                return try body(value)
            }
        }

        deinit {
            // On the thread, too, after all that it still has to do.
            thread.runLoop.perform { [box] in box.value = nil }
            thread.stop()
        }
    }

    struct DatabaseError: Error { let code: CInt }

    // Safe: made, used and closed on one thread.
    @safe final class Connection {
        private var handle: OpaquePointer?
        let onEnd: () -> Void

        init(onEnd: @escaping () -> Void = {}) throws {
            self.onEnd = onEnd
            let code = unsafe sqlite3_open_v2(
                ":memory:", &handle, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, nil)
            if code != SQLITE_OK { throw DatabaseError(code: code) }
        }

        func changes() -> Int { Int(unsafe sqlite3_total_changes(handle)) }

        deinit {
            unsafe sqlite3_close(handle)
            onEnd()
        }
    }

    @Test func `a connection stays on its thread`() async throws {
        let connection = try ThreadBound(name: "database") { try Connection() }
        let changes = try await connection { connection in connection.changes() }
        #expect(changes == 0)
    }

    @Test func `a value is made, used and destroyed on its thread`() async throws {
        let names = Log<String>()
        let ended = Gate()
        do {
            let connection = try ThreadBound(name: "database") {
                try Connection {
                    names.add(RunLoop.current.name)
                    ended.open()
                }
            }
            let changes = try await connection { connection in
                names.add(RunLoop.current.name)
                return connection.changes()
            }
            #expect(changes == 0)
        }
        #expect(ended.wait())
        #expect(names.entries == ["database", "database"])
        #expect(throws: DatabaseError.self) {
            try ThreadBound<Int>(name: "broken") { throw DatabaseError(code: 1) }
        }
    }

    struct Job: Sendable { let number: Int }

    final class Pool: Sendable {
        private let threads: [RunLoopThread]
        private let queues: [Port<Job>]
        private let next = Atomic(0)

        init(_ count: Int, handler: @escaping @Sendable (Job) -> Void) throws {
            threads = try (0..<count).map { try RunLoopThread(name: "worker \($0)") }
            queues = threads.map { _ in Port<Job>(queueLimit: 16) }
            for (thread, queue) in zip(threads, queues) {
                try thread.runLoop.performAndWait {
                    RunLoop.current.add(queue, forMode: .default, handler: handler)
                }
            }
        }

        func submit(_ job: Job) throws {
            let first = next.add(1, ordering: .relaxed).oldValue
            for turn in first..<first + queues.count {
                if try offer(job, to: queues[turn % queues.count]) { return }
            }
            // All are full: wait for room in the first one.
            try queues[first % queues.count].send(job)
        }

        private func offer(_ job: Job, to queue: Port<Job>) throws -> Bool {
            do {
                try queue.send(job, before: .distantPast)
                return true
            } catch let error where error.reason == .timedOut {
                return false
            }
        }

        deinit { for thread in threads { thread.stop() } }
    }

    @Test func `jobs go to workers with room, and wait if there is none`() throws {
        let done = Log<Int>()
        let workers = Log<String>()
        let (mayGoOn, isFull) = (Gate(), Gate())
        let pool = try Pool(2) { job in
            if job.number == 0 {
                isFull.open()
                _ = mayGoOn.wait()
            }
            workers.add(RunLoop.current.name)
            done.add(job.number)
        }
        let deadline = ContinuousClock.Instant.hang
        func waitForJobs(_ count: Int) {
            while done.entries.count < count, ContinuousClock.now < deadline { sched_yield() }
            #expect(done.entries.count >= count)
        }
        try pool.submit(Job(number: 0))
        #expect(isFull.wait())
        for number in 1...100 {
            // One worker is busy, and at most 16 jobs wait for it. The other worker has room for one more.
            waitForJobs(number - 28)
            try pool.submit(Job(number: number))
        }
        waitForJobs(84)
        #expect(!done.entries.contains(0))
        mayGoOn.open()
        waitForJobs(101)
        #expect(done.entries.sorted() == Array(0...100))
        #expect(Set(workers.entries) == ["worker 0", "worker 1"])
    }

    @Test func `a slow handler is reported with what came before it`() async {
        // In a process of its own, because a process has one recorder at a time.
        await #expect(processExitsWith: .success) { try RecipesThreadsSnippets.reportSlowHandler() }
    }

    private static func reportSlowHandler() throws {
        let (printed, isReported) = (Printed(), Gate())
        let print = { @Sendable (items: Any...) in
            printed(items.map { "\($0)" }.joined(separator: " "))
            if printed.lines.count > 1 { isReported.open() }
        }
        let recorder = try FlightRecorder(keeping: .seconds(10), detail: .everything)
        try recorder.reportSlowHandlers(over: .milliseconds(50)) { snapshot, report in
            print("blocked by the", report.handler, "made at", report.madeAt)
            guard let thread = snapshot.threads.first(where: { $0.id == report.threadID }) else { return }
            for event in thread.events.suffix(5) { print("before:", event.kind, event.place) }
        }
        let worker = try RunLoopThread(name: "worker")
        worker.runLoop.perform {}
        worker.runLoop.perform {
            let end = ContinuousClock.now + .milliseconds(200)
            while ContinuousClock.now < end {}
        }
        #expect(isReported.wait())
        worker.stop()
        worker.join()
        recorder.stop()
        #expect(
            printed.lines.contains {
                $0.hasPrefix("blocked by the block made at RunLoopsTests/RecipesThreadsSnippets.swift:")
            })
        #expect(printed.lines.contains { $0.hasPrefix("before: ") })
    }
}
