import CRunLoops
import Dispatch
import Glibc
import RunLoops
import TestSupport

/// A main loop that cannot reach the main queue.
enum Hidden {
    static func run() throws {
        runloops_hide_main_queue()
        DispatchQueue.main.async { tell("never") }
        do { try RunLoop.adoptMain() } catch { tell(error) }
        Timer.scheduledTimer(withTimeInterval: .milliseconds(20), repeats: false) { _ in
            tell("timer:", here())
            RunLoop.main.perform { RunLoop.main.stop() }
        }
        tell(RunLoop.main.run(in: .default))
    }

    /// Other code has already adopted the main thread.
    static func taken() throws {
        try RunLoop.adoptMain()
        try RunLoop.adoptMain()
        tell("adopted twice")
        guard let hook = unsafe dlsym(nil, "swift_task_asyncMainDrainQueue_hook") else { return tell("none") }
        // Safe: the variable is a pointer. Main is not asynchronous, so no code uses the pointer.
        unsafe hook.storeBytes(of: 1, as: Int.self)
        do { try RunLoop.adoptMain() } catch { tell(error) }
    }
}
