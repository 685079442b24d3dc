internal import RunLoops

// What the threads of a simulation have instead of a clock and of sleep.

extension Schedule {
    /// The body's.
    func bodyDriver() -> ThreadDriver {
        ThreadDriver(
            now: { self.now }, wait: { self.wait($0, $1, $2) }, makeThread: { self.makeDriver(of: $0) },
            threadBegins: {}, loopBegins: {}, threadEnds: {})
    }

    /// That of a thread which is about to be started, by whoever has the turn.
    private func makeDriver(of name: String) -> ThreadDriver {
        let thread = SimulatedThread(name: name)
        add(thread)
        return ThreadDriver(
            now: { self.now },
            wait: { deadline, _, isOver in
                // It has done something until it came here; with what it does next time, if that is nothing, it waits.
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
