import Dispatch
import RunLoops
import Synchronization
import Testing

/// Runs a body with a thread that runs its loop, and stops the thread.
func withThread<Result>(
    _ name: String, _ body: (RunLoopThread) async throws -> Result
) async throws -> Result {
    let thread = try RunLoopThread(name: name)
    do {
        let result = try await body(thread)
        thread.stop()
        #expect(await thread.join(before: .now + .seconds(60)))
        return result
    } catch {
        thread.stop()
        throw error
    }
}

/// A list of words to which any thread can add.
final class Log: Sendable {
    private let words = Mutex<[String]>([])

    var entries: [String] { words.withLock { $0 } }

    func add(_ word: String) { words.withLock { $0.append(word) } }
}

/// A gate at which threads wait until it is opened, once and for all.
final class Gate: Sendable {
    private let semaphore = DispatchSemaphore(value: 0)

    func open() { semaphore.signal() }

    /// Waits for at most a minute.
    func wait(sourceLocation: SourceLocation = #_sourceLocation) {
        let result = semaphore.wait(timeout: .now() + .seconds(60))
        #expect(result == .success, sourceLocation: sourceLocation)
        semaphore.signal()
    }
}

/// Waits until another thread makes a condition true.
func eventually(
    _ condition: () -> Bool, sourceLocation: SourceLocation = #_sourceLocation
) async throws {
    let deadline = ContinuousClock.now + .seconds(60)
    while !condition() {
        try #require(ContinuousClock.now < deadline, sourceLocation: sourceLocation)
        try await Task.sleep(for: .milliseconds(1))
    }
}

/// The suites of the add-ons, which run one test at a time: a process has one flight recorder and one destination of reports.
@Suite(.serialized) enum AddOns {}
