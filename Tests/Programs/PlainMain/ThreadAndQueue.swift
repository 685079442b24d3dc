import Dispatch
import RunLoops
import TestSupport

/// Code on the main thread is not always on the main queue.
enum ThreadAndQueue {
    static func run() throws {
        let other = DispatchQueue(label: "other")
        tell("main:", here())
        other.sync {
            tell("dispatched synchronously to another queue:", here())
            tell("a wait for one's own loop:", waited())
        }
        let worker = try RunLoopThread(name: "worker")
        worker.runLoop.perform {
            tell("another thread:", here(), worker.runLoop.isServicingMainQueue)
            DispatchQueue.main.sync {
                tell("dispatched synchronously to the main queue:", here())
                other.sync { tell("and on to another:", here()) }
                tell("a wait for one's own loop:", waited())
            }
            do {
                try RunLoop.main.performAndWait {
                    tell("performed:", here())
                    other.sync { tell("performed, and dispatched on:", here()) }
                    tell("a wait for one's own loop:", waited())
                }
            } catch { tell(error) }
            Task { @MainActor in
                tell("task:", here(), waited())
                await Task.detached { tell("detached task:", here()) }.value
                RunLoop.main.stop()
            }
        }
        RunLoop.main.run()
    }

    /// Performs a block on the main loop from the main thread, and waits for it.
    private static func waited() -> String {
        do {
            let answer = try RunLoop.main.performAndWait(before: .now + .seconds(60)) { here() }
            return "at once, on the \(answer)"
        } catch {
            return "\(error)"
        }
    }
}
