internal import CThreadControl
internal import Synchronization

/// Does something many times, until it was done so often or a few milliseconds are over.
///
/// - Parameters:
///   - count: How often.
///   - batch: How often `step` does it, between two looks at the timer.
///   - step: Does it that often.
/// - Returns: Nanoseconds each.
func timeEach(of count: Int, inBatchesOf batch: Int, _ step: () -> Void) -> Double {
    let start = bench_now()
    let end = start + 3_000_000
    var now = start
    var done = 0
    repeat {
        step()
        done += batch
        now = bench_now()
    } while done < count && now < end
    return Double(now - start) / Double(done)
}

/// Has something measured on another thread.
///
/// - Parameters:
///   - thread: Runs a job there, and waits for its end.
///   - body: Measures.
/// - Returns: What it has found.
/// - Throws: What it throws.
func measure(
    on thread: (@escaping @Sendable () -> Void) -> Void,
    _ body: @escaping @Sendable () throws(Miscount) -> Double
) throws(Miscount) -> Double {
    let result = Mutex<Result<Double, Miscount>?>(nil)
    thread {
        let found = Result { () throws(Miscount) in try body() }
        result.withLock { $0 = found }
    }
    guard let found = result.withLock({ $0 }) else {
        fatalError("measure(on:): a job that ended has a result")
    }
    return try found.get()
}

/// Runs asynchronous code in a task, and waits for it on a thread that is no task's.
///
/// - Parameters:
///   - executor: What the task prefers; nil for the default executor.
///   - body: What it does.
/// - Returns: What that returns.
func waitForTask<Result: Sendable>(
    preferring executor: (any TaskExecutor)?, _ body: @escaping @Sendable () async -> Result
) -> Result {
    let box = Box<Result>()
    let parker = Parker()
    Task(executorPreference: executor) {
        box.result = await body()
        parker.unpark()
    }
    parker.park()
    guard let result = box.result else { fatalError("waitForTask: the task wakes us when it has a result") }
    return result
}

/// What a task hands over.
private final class Box<Result>: @unchecked Sendable {
    // Safe because the task sets it before it wakes the thread that reads it.
    var result: Result?
}

/// Goes through numbers in an order that is as good as random, and comes to each of them.
struct ScatteredIndices {
    private let count: Int
    private let distance: Int
    private var position = 0

    /// Makes it begin.
    ///
    /// - Parameters:
    ///   - count: How many numbers; no multiple of 61,813.
    ///   - range: Less than this; they lie apart as far as fits.
    init(count: Int, in range: Int) {
        self.count = count
        distance = range / count
    }

    /// The next number.
    @inline(__always)
    mutating func next() -> Int {
        // A prime: it shares no factor with the count.
        position = (position + 61_813) % count
        return position * distance
    }
}

/// ThroughputCounts the calls of observers, on cache lines of its own.
final class CallCounter: @unchecked Sendable {
    // Safe because one thread at a time posts to what counts here, and it has been waited for, or is the
    // same, when the count is read.
    private let state: UnsafeMutablePointer<Int>

    init() {
        state = UnsafeMutableRawPointer.allocate(byteCount: 256, alignment: 128)
            .bindMemory(to: Int.self, capacity: 1)
        state.initialize(to: 0)
    }

    deinit { UnsafeMutableRawPointer(state).deallocate() }

    /// How many there were.
    var count: Int { state.pointee }

    /// One more.
    @inline(__always)
    func increment() { state.pointee &+= 1 }
}

/// A round that does not count: observers were called more or less often than they should have been.
struct Miscount: Error {
    let expected: Int
    let found: Int

    /// Compares the two.
    static func check(expected: Int, found: Int) throws(Miscount) {
        if found != expected { throw Miscount(expected: expected, found: found) }
    }
}
