import RunLoops
import TestSupport

/// An actor that lives on a loop, for tests.
actor Resident {
    nonisolated let loop: RunLoop
    private(set) var count = 0

    init(_ loop: RunLoop) { self.loop = loop }

    // Safe: the actor holds the loop.
    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe loop.asUnownedSerialExecutor() }

    /// Adds one to the count.
    ///
    /// - Returns: True if the loop's thread did so.
    @discardableResult
    func increment() -> Bool {
        count += 1
        return loop.isCurrent
    }

    /// Calls a function that is isolated to the actor.
    func run<Result: Sendable>(_ body: @Sendable (isolated Resident) throws -> Result) rethrows -> Result {
        try body(self)
    }

    /// Has another actor increment its count.
    func increment(_ other: Resident, times: Int = 1) async {
        for _ in 0..<times { await other.increment() }
    }
}

/// A global actor on a loop of its own that never ends.
@globalActor actor LoopActor {
    static let shared = LoopActor()

    static let loop: RunLoop = {
        do { return try RunLoopThread(name: "LoopActor").runLoop } catch { fatalError("\(error)") }
    }()

    // Safe: a static constant holds the loop.
    nonisolated var unownedExecutor: UnownedSerialExecutor {
        unsafe LoopActor.loop.asUnownedSerialExecutor()
    }
}

/// Runs a body with a thread that runs its loop, and stops the thread afterwards.
func withLoopThread<Result>(
    _ name: String = "test", _ body: (RunLoopThread) async throws -> Result
) async throws -> Result {
    let thread = try RunLoopThread(name: name)
    defer { thread.stop() }
    return try await body(thread)
}

/// Enqueues a job on a loop from the calling thread, like a job of an actor on the loop.
func enqueueJob(on loop: RunLoop, _ body: @escaping @Sendable () -> Void) {
    Task(executorPreference: JobExecutor(loop: loop)) { body() }
}

/// An executor that enqueues the jobs of tasks as if they were jobs of actors.
private final class JobExecutor: TaskExecutor {
    let loop: RunLoop
    init(loop: RunLoop) { self.loop = loop }
    func enqueue(_ job: consuming ExecutorJob) { loop.enqueue(job) }
}
