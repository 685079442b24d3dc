import Dispatch
import RunLoops

/// The programs of the article "The main thread".
@MainActor func documentedMain() {
    Timer.scheduledTimer(withTimeInterval: .milliseconds(100), repeats: false) { _ in
        print("a timer of the main loop")
        RunLoop.main.stop()
    }
    DispatchQueue.main.async { print("a block of the main queue") }
    Task { @MainActor in print("a task of the main actor") }

    RunLoop.main.run()
}

func documentedDifference() {
    let other = DispatchQueue(label: "other")
    other.sync { print(RunLoop.main.isCurrent, RunLoop.main.isServicingMainQueue) }
}
