internal import RunLoops

// A driver replaces, for one thread of a simulation, the system's clock and the way in which the thread sleeps.

extension Schedule {
    /// Makes the driver of the thread that calls the simulation's body.
    func bodyDriver() -> ThreadDriver {
        ThreadDriver(
            name: "simulation", now: { self.now }, timeSince1970: { self.timeSince1970 },
            watchWallClock: { self.watchWallClock($0) }, wait: { self.wait($0, $1, $2) },
            makeThread: { self.makeDriver(of: $0) },
            threadBegins: {}, loopBegins: {}, threadEnds: {})
    }

    /// Makes the driver of a thread that is about to start.
    ///
    /// This runs on the thread that starts the new thread, while that thread has its turn.
    private func makeDriver(of name: String) -> ThreadDriver {
        let thread = SimulatedThread(name: name)
        add(thread)
        return ThreadDriver(
            name: name, now: { self.now }, timeSince1970: { self.timeSince1970 },
            watchWallClock: { self.watchWallClock($0) },
            wait: { deadline, _, isOver in
                // After the turn in which the thread begins to wait, the answer is `worked`. After a later turn, which only finds
                // that the wait is not over, the answer is `waits`.
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
                    self.countPass(of: name)
                    thread.giveBack(.worked)
                }
                loop.add(observer, forMode: .common)
            },
            threadEnds: { thread.end() })
    }
}
