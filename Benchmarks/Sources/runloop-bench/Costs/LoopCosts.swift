internal import Dispatch
internal import RunLoops

/// Timers of a loop that sleeps, and of a loop that does not run.
enum TimerCosts {
    /// Sets `count` timers, the handler of each of which sets the next one.
    static func sleep(_ count: Int) throws {
        let thread = try RunLoopThread(name: "timer")
        _ = try thread.prepare(.park)
        let isOver = DispatchSemaphore(value: 0)
        thread.runLoop.perform { sleep(count, isOver) }
        try isOver.waitForEnd()
        thread.stop()
        thread.join()
    }

    private static func sleep(_ rest: Int, _ isOver: DispatchSemaphore) {
        Timer.scheduledTimer(withTimeInterval: .milliseconds(1), repeats: false) { _ in
            if rest == 1 { isOver.signal() } else { sleep(rest - 1, isOver) }
        }
    }

    /// Adds and cancels `count` timers.
    static func change(_ count: Int) {
        let thread = WorkerThread()
        thread.runAndWait {
            let start = ContinuousClock.now + .seconds(36_000)
            let waiting = (0..<10).map { add(at: start + .seconds($0)) }
            for _ in 0..<count { add(at: start + .milliseconds(4_500)).invalidate() }
            for timer in waiting { timer.invalidate() }
        }
        thread.end()
    }

    private static func add(at date: ContinuousClock.Instant) -> Timer {
        let timer = Timer(fireAt: date, interval: .zero, repeats: false) { _ in }
        RunLoop.current.add(timer, forMode: .default)
        return timer
    }
}

/// Threads that make a loop, and end.
enum LoopCosts {
    /// Starts `count` threads one after the other, each of which does a job and ends.
    static func makeThreads(_ count: Int, _ job: @escaping @Sendable () -> Void) {
        for _ in 0..<count {
            let thread = WorkerThread()
            thread.runAndWait(job)
            thread.end()
        }
    }
}
