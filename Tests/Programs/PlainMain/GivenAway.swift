import Dispatch
import Glibc
import RunLoops
import TestSupport

/// Main threads that are given away with `dispatchMain()`.
enum GivenAway {
    /// The main loop is made by another thread, and no thread ever runs it.
    static func madeElsewhere() throws {
        let gate = Gate()
        try RunLoopThread.detach(name: "worker") { _ in
            let destroyed = Gate()
            tell("before:", RunLoop.main.perform { [canary = Canary(destroyed)] in canary.sing() })
            gate.open()
            expectEnd(destroyed)
        }
        _ = gate.wait()
        dispatchMain()
    }

    /// The main thread has a loop, with something in it.
    static func withWork() {
        Timer.scheduledTimer(withTimeInterval: .zero, repeats: true) { _ in tell("timer") }
        let destroyed = Gate()
        RunLoop.main.perform { [canary = Canary(destroyed)] in canary.sing() }
        DispatchQueue.main.async {
            tell("queue:", here())
            expectEnd(destroyed)
        }
        dispatchMain()
    }

    /// No thread has asked for the main loop before.
    static func beforeAnybodyAsked() {
        DispatchQueue.main.async {
            let destroyed = Gate()
            RunLoop.main.perform { [canary = Canary(destroyed)] in canary.sing() }
            expectEnd(destroyed)
        }
        dispatchMain()
    }

    /// Running a loop that no thread can run.
    static func run() {
        DispatchQueue.main.async { RunLoop.main.run() }
        dispatchMain()
    }

    /// A runtime that does not call the function that adopts the main thread.
    static func adoptedInVain() throws {
        try RunLoop.adoptMain()
        let destroyed = Gate()
        RunLoop.main.perform { [canary = Canary(destroyed)] in canary.sing() }
        DispatchQueue.main.async { expectEnd(destroyed) }
        dispatchMain()
    }

    static func adoptedElsewhere() throws {
        DispatchQueue.global().async {
            do { try RunLoop.adoptMain() } catch { tell(error) }
        }
        RunLoop.main.run()
    }

    /// Waits until the main loop has ended, and leaves.
    private static func expectEnd(_ destroyed: Gate) {
        do {
            try RunLoop.main.performAndWait { tell("it runs") }
        } catch {
            tell("waited:", error)
        }
        tell("destroyed:", destroyed.wait())
        tell("after:", RunLoop.main.perform {})
        exit(0)
    }
}
