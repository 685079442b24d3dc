import CSQLite
import RunLoops
import TestSupport
import Testing

/// The code of the article "Swift concurrency".
@Suite(.timeLimit(.minutes(60))) struct SwiftConcurrencySnippets {
    actor Gauge: RunLoopActor {
        nonisolated let runLoop: RunLoop
        private var level = 0

        init(on runLoop: RunLoop) { self.runLoop = runLoop }

        func rise() -> Int {
            level += 1
            return level
        }
    }

    @Test func `an actor lives on a loop`() async throws {
        let print = Printed()
        let worker = try RunLoopThread(name: "worker")
        let gauge = Gauge(on: worker.runLoop)
        print(await gauge.rise())
        #expect(print.lines == ["1"])
        worker.stop()
    }

    struct DatabaseError: Error { let code: CInt }

    // Safe: the handle is used on one thread only, and until it is closed.
    @safe actor Database: RunLoopActor {
        private let thread: RunLoopThread
        private var handle: OpaquePointer?

        nonisolated var runLoop: RunLoop { thread.runLoop }

        init(path: String) async throws {
            thread = try RunLoopThread(name: "database")
            // Now that all properties have a value, this runs on the thread too. No mutex: one thread is enough.
            let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX
            try check(unsafe sqlite3_open_v2(path, &handle, flags, nil))
        }

        func execute(_ statement: String) throws {
            try check(unsafe sqlite3_exec(handle, statement, nil, nil, nil))
        }

        func number(_ query: String) throws -> Int {
            var cursor: OpaquePointer?
            try check(unsafe sqlite3_prepare_v2(handle, query, -1, &cursor, nil))
            defer { unsafe sqlite3_finalize(cursor) }
            guard unsafe sqlite3_step(cursor) == SQLITE_ROW else { return 0 }
            return Int(unsafe sqlite3_column_int64(cursor, 0))
        }

        private func check(_ code: CInt) throws {
            if code != SQLITE_OK { throw DatabaseError(code: code) }
        }

        isolated deinit {
            unsafe sqlite3_close(handle)
            thread.stop()
        }
    }

    @Test func `an actor owns a database and the thread that it is used on`() async throws {
        let print = Printed()
        let database = try await Database(path: ":memory:")
        try await database.execute("CREATE TABLE visits (day INTEGER)")
        for day in 1...3 { try await database.execute("INSERT INTO visits VALUES (\(day))") }
        print(try await database.number("SELECT COUNT(*) FROM visits"))
        #expect(print.lines == ["3"])
    }

    @Test func `a database that cannot be opened is an error, and its thread ends`() async {
        await #expect(throws: DatabaseError.self) { _ = try await Database(path: "/no such directory/data") }
    }

    @globalActor actor Graphics: RunLoopActor {
        static let shared = Graphics()

        static let thread: RunLoopThread = {
            do { return try RunLoopThread(name: "graphics") } catch { fatalError("graphics: \(error)") }
        }()

        nonisolated var runLoop: RunLoop { Graphics.thread.runLoop }
    }

    @Graphics final class Canvas {
        private var strokes = 0

        func draw() -> Int {
            strokes += 1
            return strokes
        }
    }

    @Test func `a global actor lives on a loop`() async {
        let canvas = Canvas()
        #expect(await canvas.draw() == 1)
        #expect(await canvas.draw() == 2)
        #expect(await Task { @Graphics in Graphics.thread.runLoop.isCurrent }.value)
    }

    actor Counter: RunLoopActor {
        nonisolated let runLoop: RunLoop
        private var total = 0

        init(on runLoop: RunLoop) { self.runLoop = runLoop }

        func count(_ numbers: Port<Int>) {
            // Given in the actor and called on its thread: the handler is the actor's own code.
            runLoop.add(numbers, forMode: .default) { number in self.total += number }
        }

        nonisolated func reset() {
            // Performed from anywhere; the block gets the actor, and runs as its code.
            perform { $0.total = 0 }
        }

        func current() -> Int { total }
    }

    @Test func `handlers are the actor's code`() async throws {
        let worker = try RunLoopThread(name: "worker")
        let counter = Counter(on: worker.runLoop)
        let numbers = Port<Int>()
        await counter.count(numbers)
        try await numbers.send(contentsOf: [20, 22])
        while await counter.current() < 42 { await Task.yield() }
        #expect(await counter.current() == 42)
        counter.reset()
        try await worker.runLoop.performAndWait {}
        #expect(await counter.current() == 0)
        worker.stop()
    }

    final class Index: Sendable {
        func rebuild() async -> Int { 42 }
    }

    @Test func `a task prefers a loop`() async throws {
        let worker = try RunLoopThread(name: "worker")
        let index = Index()
        let task = Task(executorPreference: worker.runLoop.taskExecutor) { await index.rebuild() }
        #expect(await task.value == 42)
        worker.stop()
    }
}
