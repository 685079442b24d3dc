import Dispatch
import RunLoops
import TestSupport

// Programs whose main is asynchronous and gives up the main thread. The argument names the program.

@main struct SuspendingMain {
    static func main() async throws {
        switch CommandLine.arguments.last {
        case "before": runBefore()
        case "holding":
            startTimer()
            await expectEnd()
        case "untouched": await expectEnd()
        case "late": try await late()
        case "member": await member()
        default: tell("no such program")
        }
    }

    /// Before the first `await`, everything works as in any program.
    private static func runBefore() {
        DispatchQueue.main.async { tell("main queue:", here()) }
        Task { @MainActor in
            tell("main actor:", here())
            RunLoop.main.stop()
        }
        RunLoop.main.run()
    }

    private static func startTimer() {
        Timer.scheduledTimer(withTimeInterval: .zero, repeats: true) { _ in tell("timer") }
    }

    /// Expects that the main loop has ended or is about to end.
    private static func expectEnd() async {
        do { try await RunLoop.main.performAndWait {} } catch { tell("waited:", error) }
        tell("performed:", RunLoop.main.perform {})
        await MainActor.run { tell("main actor:", here()) }
    }

    private static func late() async throws {
        try await Task.sleep(for: .milliseconds(1))
        try await MainActor.run { try RunLoop.adoptMain() }
    }

    private static func member() async {
        await Task.yield()
        await MainActor.run { RunLoop.main.add(ManualSource {}, forMode: .default) }
    }
}
