import Dispatch
import Glibc
import RunLoops
import Synchronization
import Testing

/// A gate that a thread waits at until another thread opens it.
final class Gate: Sendable {
    private let semaphore = DispatchSemaphore(value: 0)

    func open() { semaphore.signal() }

    /// Waits; false if the test hangs.
    func wait() -> Bool { semaphore.wait(timeout: .now() + .seconds(20)) == .success }
}

/// A list that any thread may add to.
final class Log: Sendable {
    private let list = Mutex<[String]>([])
    var entries: [String] { list.withLock { $0 } }

    func add(_ entry: String) { list.withLock { $0.append(entry) } }
}

extension ContinuousClock.Instant {
    /// A date that comes only if a test hangs.
    static var hang: ContinuousClock.Instant { .now + .seconds(20) }
}

/// Runs the body of a test on a thread of its own, with that thread's loop.
func onLoopThread(_ body: @escaping @Sendable (RunLoop) throws -> Void) throws {
    let gate = Gate()
    try RunLoopThread.detach(name: "test") { loop in
        do { try body(loop) } catch { Issue.record(error) }
        gate.open()
    }
    #expect(gate.wait(), "the test hangs")
}

extension RunLoop {
    /// Runs in a mode until something holds, for which a source is served.
    func run(in mode: Mode, until what: String, _ holds: () -> Bool) {
        while !holds() {
            let result = run(in: mode, until: .hang, returnAfterSourceHandled: true)
            if result == .handledSource { continue }
            #expect(holds(), "\(what): \(String(describing: result))")
            return
        }
    }
}
