internal import RunLoops

// The drivers of a simulation's threads, which replace the system's clock and the way that a thread sleeps.

extension Schedule {
    /// Makes the driver of the body's thread.
    func bodyDriver() -> ThreadDriver {
        ThreadDriver(
            name: "simulation", now: { self.now }, wait: { self.wait($0, $1, $2) },
            makeThread: { self.makeDriver(of: $0) },
            threadBegins: {}, loopBegins: {}, threadEnds: {})
    }

    /// Makes the driver of a new thread.
    ///
    /// The thread that has the turn is about to start the new thread.
    private func makeDriver(of name: String) -> ThreadDriver {
        let thread = SimulatedThread(name: name)
        add(thread)
        return ThreadDriver(
            name: name, now: { self.now },
            wait: { deadline, _, isOver in
                // The turn in which the thread begins to wait is reported as work. A later turn, which only finds that the wait is
                // not over, is reported as waiting.
                var answer = SimulatedThread.Answer.worked
                while !isOver() && self.now < deadline {
                    thread.giveBack(answer)
                    answer = .waits(until: deadline)
                }
            },
            makeThread: { self.makeDriver(of: $0) },
            threadBegins: { thread.awaitTurn() },
            loopBegins: {
                guard let loop = RunLoop.existing else { preconditionFailure("the thread has its loop") }
                thread.hasLoop(loop)
                let observer = RunLoop.Observer(activities: .beforeTimers, order: .min) { _, _ in
                    thread.giveBack(.worked)
                }
                loop.add(observer, forMode: .common)
            },
            threadEnds: { thread.end() })
    }
}
