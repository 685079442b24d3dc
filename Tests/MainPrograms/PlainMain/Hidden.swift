import CMainQueue
import Dispatch
import RunLoops
import TestSupport

/// A main loop whose main queue is out of reach.
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
}
