import RunLoops
import TestSupport
import Testing

/// The code of the articles "Threads", "Deadlocks", "How a loop ends" and "Tasks and loops".
@Suite struct ThreadsSnippets {
    @Test func `a thread keeps its state to itself`() throws {
        let print = Printed()
        let words = Port<String>()
        try RunLoopThread.detach(name: "counter") { loop in
            var counts: [String: Int] = [:]
            loop.add(words, forMode: .default) { word in
                counts[word, default: 0] += 1
                print(word, counts[word, default: 0])
            }
            loop.run()
        }
        try words.send(contentsOf: ["one", "two", "one"])

        try onLoopThread { loop in
            // The loop has no other input: this timer checks the output repeatedly.
            let look = Timer(timeInterval: .milliseconds(1), repeats: true) { timer in
                if print.lines.count == 3 { timer.invalidate() }
            }
            loop.add(look, forMode: .default)
            loop.run(until: .now + .seconds(30))
        }
        words.invalidate()
        #expect(print.lines == ["one 1", "two 1", "one 2"])
    }

    @Test func `a wait for a result has a deadline`() throws {
        let print = Printed()
        let database = try RunLoopThread(name: "database")
        do {
            let rows = try database.runLoop.performAndWait(before: .now + .seconds(1)) { [1, 2, 3] }
            print(rows.count, "rows")
        } catch PerformError.Reason.timedOut {
            print("the database is busy")
        }
        database.stop()
        #expect(!print.lines.isEmpty)
    }

    /// A session of a library that is bound to the thread that opened the session.
    private final class Session {
        var isOpen = true
        let closed: Log<Bool>

        init(_ closed: Log<Bool>) { self.closed = closed }

        func close() {
            isOpen = false
            closed.add(RunLoop.current.currentMode == nil)
        }
    }

    @Test func `an object of a thread is closed on it`() throws {
        let closed = Log<Bool>()
        let Session = { @Sendable in ThreadsSnippets.Session(closed) }
        let worker = try RunLoopThread(name: "worker")
        try worker.runLoop.performAndWait {
            let session = Session()
            RunLoop.current.addEndHandler { session.close() }
        }
        worker.stop()
        worker.join()
        #expect(closed.entries == [true])
    }

    @Test func `a circle of waits is refused, and named`() throws {
        let print = Printed()
        let (model, view) = (try RunLoopThread(name: "model"), try RunLoopThread(name: "view"))
        try view.runLoop.performAndWait {
            try model.runLoop.performAndWait {
                do {
                    try view.runLoop.performAndWait { print("shown") }
                } catch let error as PerformError {
                    if let circle = error.circle { print(circle) }
                }
            }
        }
        for thread in [model, view] { thread.stop() }
        let line = try #require(print.lines.first)
        #expect(line.contains("run loop \"model\" waits in RunLoop.performAndWait"))
        #expect(line.contains("for run loop \"view\", which waits in RunLoop.performAndWait"))
        #expect(line.hasSuffix("for run loop \"model\""))
    }

    func answer(from worker: RunLoopThread) async throws -> Int {
        try await worker.runLoop.performAndWait { 6 * 7 }
    }

    @Test func `a task awaits a result of a thread`() async throws {
        let worker = try RunLoopThread(name: "worker")
        #expect(try await answer(from: worker) == 42)
        worker.stop()
    }
}
