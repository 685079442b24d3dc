/// One subject on one path.
struct Walk: Sendable {
    /// Which it is.
    struct Key: Hashable {
        let path: HopPath
        let subject: HopSubject
    }

    let key: Key
    /// Takes so many steps.
    let take: @Sendable (_ steps: Int) async -> Void
    /// How many stops were made so far, two for each step.
    let stops: @Sendable () async -> Int

    /// Between two stations, or from one to tasks of its own.
    init<Stop: Station>(_ key: Key, near: Stop, far: Stop) {
        self.key = key
        switch key.path {
        case .sameExecutor, .twoExecutors:
            take = { steps in await near.walk(to: far, steps: steps) }
            stops = { await near.passes + far.passes }
        case .pool, .preferring:
            let home = Calls()
            take = { steps in await Walk.stroll(from: home, to: far, steps: steps) }
            stops = { await home.count + far.passes }
        case .start:
            take = { steps in await near.startTasks(steps) }
            stops = { await near.passes }
        }
    }

    /// Code that is isolated to nobody: on the default executor, or where the task prefers to be.
    @concurrent private static func stroll(from home: Calls, to station: some Station, steps: Int) async {
        for _ in 0..<steps {
            home.note()
            await station.pass()
        }
    }
}
