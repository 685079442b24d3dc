import Dispatch
import Glibc
import RunLoops
import TestSupport

/// Main threads that are given away with `dispatchMain()`.
enum GivenAway {
    /// Another thread makes the main loop, and no thread ever runs it.
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

    /// The main thread has a loop with work.
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

    /// No thread has used the main loop before.
    static func beforeAnybodyAsked() {
        DispatchQueue.main.async {
            let destroyed = Gate()
            RunLoop.main.perform { [canary = Canary(destroyed)] in canary.sing() }
            expectEnd(destroyed)
        }
        dispatchMain()
    }

    /// A run of a loop that no thread can run.
    static func run() {
        DispatchQueue.main.async { RunLoop.main.run() }
        dispatchMain()
    }

    /// The main thread is adopted, but the runtime does not call the hook.
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

    /// Expects that the main loop ends, and ends the process.
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
