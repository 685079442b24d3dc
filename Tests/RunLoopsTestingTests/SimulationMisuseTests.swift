import RunLoops
import RunLoopsTesting
import TestExpectations
import TestSupport
import Testing

/// Misuse ends the program with a message.
@Suite struct SimulationMisuseTests {
    @Test func `time cannot be moved in a handler`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            try RunLoopSimulation.run { simulation in
                RunLoop.current.perform { simulation.advance(by: .seconds(1)) }
                simulation.settle()
            }
        }
        #expect(result.says("RunLoopSimulation.advance: called in a handler of the loop"))
    }

    @Test func `nor can it on another thread`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            try RunLoopSimulation.run { simulation in
                try RunLoopThread(name: "other").runLoop.performAndWait { simulation.settle() }
            }
        }
        #expect(result.says("RunLoopSimulation.settle: called on another thread than the body's"))
    }

    @Test(arguments: [true, false]) func `time does not go backwards`(jumps: Bool) async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            [jumps] in
            try RunLoopSimulation.run { simulation in
                if jumps { simulation.jump(by: .seconds(-1)) } else { simulation.advance(by: .seconds(-1)) }
            }
        }
        #expect(result.says("is negative; time goes forward only"))
    }

    @Test func `a simulation is not made in another one`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            try RunLoopSimulation.run { _ in try RunLoopSimulation.run { _ in } }
        }
        #expect(result.says("RunLoopSimulation.run: called in a simulation"))
    }

    @Test func `a thread that keeps its turn is told of`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            try RunLoopSimulation.run(timeout: .milliseconds(100)) { simulation in
                let never = Gate()
                let worker = try RunLoopThread(name: "worker")
                worker.runLoop.perform { _ = never.wait() }
                simulation.settle()
            }
        }
        #expect(result.says("RunLoopSimulation: worker has the turn and does not give it back"))
    }

    @Test func `a wait that nothing can end is told of`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            try RunLoopSimulation.run(timeout: .seconds(8)) { _ in
                _ = try RunLoopThread(name: "worker")
                RunLoop.current.add(ManualSource {}, forMode: .default)
                RunLoop.current.run()
            }
        }
        #expect(
            result.says("RunLoopSimulation: all threads wait, and none has a deadline (the body, worker)"))
    }

    @Test(arguments: [false, true]) func `work without a delay and without an end is told of`(
        isElsewhere: Bool
    ) async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            [isElsewhere] in
            try RunLoopSimulation.run(timeout: .milliseconds(50)) { simulation in
                @Sendable func again() {
                    Timer.scheduledTimer(withTimeInterval: .zero, repeats: false) { _ in again() }
                }
                RunLoop.current.perform {}
                let loop = isElsewhere ? try RunLoopThread(name: "worker").runLoop : RunLoop.current
                loop.perform(after: .seconds(3)) { again() }
                simulation.advance(by: .seconds(10))
            }
        }
        let thread = isElsewhere ? "worker" : "the body's thread"
        #expect(
            result.says(
                "RunLoopSimulation: the clock stands at 3.0 seconds after the beginning, because the loops always have work then; the last handler, on \(thread), is that of the timer made at RunLoopsTestingTests/SimulationMisuseTests.swift:"
            ))
        #expect(result.says("; let it wait before it gives its loop more work"))
    }

    @Test func `a block that performs itself is told of, too`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            try RunLoopSimulation.run(timeout: .milliseconds(50)) { simulation in
                @Sendable func again() { RunLoop.current.perform { again() } }
                again()
                simulation.settle()
            }
        }
        #expect(result.says("is that of the block made at RunLoopsTestingTests/SimulationMisuseTests.swift:"))
    }
}

extension ExitTest.Result? {
    /// True if the process wrote these words before it ended.
    func says(_ words: String) -> Bool {
        guard let self else { return false }
        return String(decoding: self.standardErrorContent, as: UTF8.self).contains(words)
    }
}
