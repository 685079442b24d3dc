import Dispatch
import RunLoops
import TestSupport

// Programs whose main is asynchronous and has adopted the main thread. The argument names the program.

func serve() async throws {
    switch CommandLine.arguments.last {
    case "stays": try await stays()
    case "nested": await nested()
    case "fails": throw Failure()
    default: tell("no such program")
    }
}

private struct Failure: Error {}

/// The main loop serves all that it serves in other programs.
private func stays() async throws {
    tell("main itself:", here())
    await MainActor.run { tell("main actor:", here()) }
    try await Task.sleep(for: .milliseconds(5))
    await MainActor.run { tell("main actor, later:", here()) }
    await withCheckedContinuation { continuation in
        DispatchQueue.main.async {
            tell("main queue:", here())
            continuation.resume()
        }
    }
    tell("performed:", try await RunLoop.main.performAndWait { here() })
    await withCheckedContinuation { continuation in
        RunLoop.main.perform {
            Timer.scheduledTimer(withTimeInterval: .milliseconds(5), repeats: false) { _ in
                tell("timer:", here(), RunLoop.main.currentMode?.rawValue ?? "none")
                continuation.resume()
            }
        }
    }
    // The stop ends one run, and the next run begins.
    RunLoop.main.stop()
    tell("after a stop:", try await RunLoop.main.performAndWait { here() })
}

/// Runs inside tasks of the main actor, which are blocks of the main queue.
@MainActor private func nested() async {
    let other = Task { @MainActor in tell("other task") }
    runOnce()
    tell("run ended")
    await other.value
}

@MainActor private func runOnce() {
    tell("empty:", RunLoop.main.run(in: .default))
    Timer.scheduledTimer(withTimeInterval: .milliseconds(5), repeats: false) { _ in tell("timer") }
    tell("with a timer:", RunLoop.main.run(in: .default))
}
