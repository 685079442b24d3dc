import RunLoops
import RunLoopsTesting

/// The main thread is the first thread of a simulation, before any thread has used the main loop.
@MainActor func simulatedMain() throws {
    try RunLoopSimulation.run { simulation in
        RunLoop.main.perform { print("a block of the main loop") }
        print("another loop: \(RunLoop.current != RunLoop.main)")
        Timer.scheduledTimer(withTimeInterval: .seconds(60), repeats: false) { _ in print("a minute later") }
        simulation.advance(by: .seconds(60))
    }
    print("the main loop again: \(RunLoop.current == RunLoop.main)")
    RunLoop.main.perform { RunLoop.main.stop() }
    RunLoop.main.run()
}
