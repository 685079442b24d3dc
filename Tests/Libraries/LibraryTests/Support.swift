import Dispatch
import Glibc
import RunLoops
import Synchronization
import Testing

/// A gate at which a thread waits until another thread opens it.
final class Gate: Sendable {
    private let semaphore = DispatchSemaphore(value: 0)

    func open() { semaphore.signal() }

    /// Waits, and returns false if the test hangs.
    func wait() -> Bool { semaphore.wait(timeout: .now() + .seconds(20)) == .success }
}

/// A list to which any thread can add.
final class Log: Sendable {
    private let list = Mutex<[String]>([])
    var entries: [String] { list.withLock { $0 } }

    func add(_ entry: String) { list.withLock { $0.append(entry) } }
}

extension ContinuousClock.Instant {
    /// A date that passes only if a test hangs.
    static var hang: ContinuousClock.Instant { .now + .seconds(20) }
}

/// Runs the body of a test on a new thread, with the loop of the thread.
func onLoopThread(_ body: @escaping @Sendable (RunLoop) throws -> Void) throws {
    let gate = Gate()
    try RunLoopThread.detach(name: "test") { loop in
        do { try body(loop) } catch { Issue.record(error) }
        gate.open()
    }
    #expect(gate.wait(), "the test hangs")
}

extension RunLoop {
    /// Runs the loop in a mode until a condition holds, which can change only when a source is served.
    func run(in mode: Mode, until what: String, _ holds: () -> Bool) {
        while !holds() {
            let result = run(in: mode, until: .hang, returnAfterSourceHandled: true)
            if result == .handledSource { continue }
            #expect(holds(), "\(what): \(String(describing: result))")
            return
        }
    }
}
