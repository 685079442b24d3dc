internal import RunLoops

// The drivers of a simulation's threads: they replace the system's clock, and sleep.

extension Schedule {
    /// The driver of the body's thread.
    func bodyDriver() -> ThreadDriver {
        ThreadDriver(
            now: { self.now }, wait: { self.wait($0, $1, $2) }, makeThread: { self.makeDriver(of: $0) },
            threadBegins: {}, loopBegins: {}, threadEnds: {})
    }

    /// The driver of a thread that the thread with the turn is about to start.
    private func makeDriver(of name: String) -> ThreadDriver {
        let thread = SimulatedThread(name: name)
        add(thread)
        return ThreadDriver(
            now: { self.now },
            wait: { deadline, _, isOver in
                // The turn in which the thread got here did something. A later turn that finds the wait still on did not.
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
