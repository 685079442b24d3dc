internal import CThreadControl
internal import Synchronization

/// Repeats a step until `count` repetitions are done or three milliseconds have passed.
///
/// - Parameters:
///   - count: The number of repetitions.
///   - batch: The number of repetitions in one call of `step`, between two reads of the clock.
///   - step: Does `batch` repetitions.
/// - Returns: The nanoseconds of one repetition.
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

/// Measures on another thread.
///
/// - Parameters:
///   - thread: Runs a job on the thread, and waits for its end.
///   - body: The measurement.
/// - Returns: The result of `body`.
/// - Throws: The error of `body`.
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
        fatalError("measure(on:): a job that has ended has a result")
    }
    return try found.get()
}

/// Runs asynchronous code in a task, and blocks the calling thread until its end.
///
/// - Parameters:
///   - executor: The executor that the task prefers, or nil for the default executor.
///   - body: The code.
/// - Returns: The result of `body`.
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
    guard let result = box.result else {
        fatalError("waitForTask: the task stores its result before it unparks the thread")
    }
    return result
}

/// The result of a task.
private final class Box<Result>: @unchecked Sendable {
    // Safe because the task stores the result before it unparks the thread that loads it.
    var result: Result?
}

/// The numbers below a limit in a pseudo-random order, with each number once.
struct ScatteredIndices {
    private let count: Int
    private let distance: Int
    private var position = 0

    /// Creates the order.
    ///
    /// - Parameters:
    ///   - count: The count of numbers, which must not be a multiple of 61,813.
    ///   - range: The limit below which the numbers are spread evenly.
    init(count: Int, in range: Int) {
        self.count = count
        distance = range / count
    }

    /// The next number.
    @inline(__always)
    mutating func next() -> Int {
        // A prime that does not divide `count`, so that each number occurs once before any number is repeated.
        position = (position + 61_813) % count
        return position * distance
    }
}

/// Counts calls, on its own cache lines.
final class CallCounter: @unchecked Sendable {
    // Safe because one thread at a time counts. The thread that reads the count is the same thread, or has waited for that thread.
    private let state: UnsafeMutablePointer<Int>

    init() {
        state = UnsafeMutableRawPointer.allocate(byteCount: 256, alignment: 128)
            .bindMemory(to: Int.self, capacity: 1)
        state.initialize(to: 0)
    }

    deinit { UnsafeMutableRawPointer(state).deallocate() }

    var count: Int { state.pointee }

    /// Counts one call.
    @inline(__always)
    func increment() { state.pointee &+= 1 }

    /// Adds to the count.
    func add(_ number: Int) { state.pointee &+= number }
}

/// A count that differs from the expected count, for example because a message was lost or arrived twice.
struct Miscount: Error {
    let expected: Int
    let found: Int

    /// Throws unless both counts are equal.
    static func check(expected: Int, found: Int) throws(Miscount) {
        if found != expected { throw Miscount(expected: expected, found: found) }
    }
}

extension Duration {
    /// The duration in whole nanoseconds.
    var nanoseconds: Int64 { Int64(self / .nanoseconds(1)) }
}
