internal import CThreadControl
internal import Synchronization

/// Does something many times, until it was done so often or a few milliseconds are over.
///
/// - Parameters:
///   - count: How often.
///   - batch: How often `step` does it, between two looks at the clock.
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
