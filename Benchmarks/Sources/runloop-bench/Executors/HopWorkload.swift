internal import NIOCore
internal import RunLoops

/// The two ends of the hops of a task.
enum HopPath: String, CaseIterable {
    case sameExecutor = "between two actors of one executor"
    case twoExecutors = "between actors of two executors"
    case pool = "between the default executor's threads and an actor"
    case preferring = "between a task's own code and an actor of the loop that it prefers"
    case start = "from an actor to a new task of its own, and back with its result"

    /// The unit of the figures.
    var unit: String { self == .start ? "task" : "hop" }

    /// The number of units in one step of a workload: there and back is two hops.
    var unitsPerStep: Int { self == .start ? 1 : 2 }

    /// The subjects that this path is measured with.
    var subjects: [HopSubject] {
        switch self {
        case .sameExecutor, .start: [.runLoops, .nio, .standard]
        case .twoExecutors: [.runLoops, .parked, .nio]
        case .pool: [.runLoops, .parked, .nio, .standard]
        case .preferring: [.runLoops]
        }
    }
}

/// The executors that are compared.
enum HopSubject: String, CaseIterable {
    case runLoops = "RunLoops"
    case parked = "RunLoops, park"
    case nio = "SwiftNIO"
    case standard = "default executor"

    /// The relation to this package.
    var role: Chart.Role { self == .runLoops || self == .parked ? .ours : .peer }
}

/// The hops of one subject on one path.
struct HopWorkload: Sendable {
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
    init<Stop: HopActor>(_ key: Key, near: Stop, far: Stop) {
        self.key = key
        switch key.path {
        case .sameExecutor, .twoExecutors:
            take = { steps in await near.walk(to: far, steps: steps) }
            stops = { await near.passes + far.passes }
        case .pool, .preferring:
            let home = CallCounter()
            take = { steps in await HopWorkload.stroll(from: home, to: far, steps: steps) }
            stops = { await home.count + far.passes }
        case .start:
            take = { steps in await near.startTasks(steps) }
            stops = { await near.passes }
        }
    }

    /// Code that is isolated to nobody: on the default executor, or where the task prefers to be.
    @concurrent private static func stroll(from home: CallCounter, to station: some HopActor, steps: Int)
        async
    {
        for _ in 0..<steps {
            home.increment()
            await station.pass()
        }
    }
}

/// An actor that tasks visit.
///
/// Each visit changes the actor's state, because the compiler removes a hop to an actor if nothing is done there.
protocol HopActor: Actor {
    /// How often it was passed.
    var passes: Int { get set }
}

extension HopActor {
    /// Passes it once.
    func pass() { passes &+= 1 }

    /// Goes to another station and back, so many times; both count it.
    func walk(to other: Self, steps: Int) async {
        for _ in 0..<steps {
            passes &+= 1
            await other.pass()
        }
    }

    /// Starts a task of the actor and waits for it, this many times.
    ///
    /// Counts before the task and in it.
    func startTasks(_ count: Int) async {
        for _ in 0..<count {
            passes &+= 1
            await Task { pass() }.value
        }
    }
}

/// An actor on a given executor.
actor PinnedHopActor: HopActor {
    /// Kept here, because an unowned reference does not keep the executor alive.
    private let executor: any SerialExecutor
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }
    var passes = 0

    init(on executor: any SerialExecutor) { self.executor = executor }
}

/// An actor on the default executor.
actor PlainHopActor: HopActor {
    var passes = 0
}

/// The executors that tasks hop to, two of each kind, which last as long as the program.
struct HopExecutors {
    private let loops: [RunLoopThread]
    private let parkedLoops: [RunLoopThread]
    private let nioLoops: [NIOLoop]
    private let nears: [ThreadNumber]
    private let fars: [ThreadNumber]

    init() throws {
        loops = [try RunLoopThread(name: "near"), try RunLoopThread(name: "far")]
        parkedLoops = [try RunLoopThread(name: "near, park"), try RunLoopThread(name: "far, park")]
        nioLoops = [NIOLoop(), NIOLoop()]
        let parked = try parkedLoops.map { thread in
            try thread.runLoop.performAndWait {
                RunLoop.current.waitPolicy = .park
                return ThreadNumber.current
            }
        }
        let numbers = try loops.map { try $0.runLoop.performAndWait { ThreadNumber.current } }
        nears = [numbers[0], parked[0], nioLoops[0].number]
        fars = [numbers[1], parked[1], nioLoops[1].number]
    }

    /// The workloads of a path.
    func workloads(_ path: HopPath) -> [HopWorkload] {
        path.subjects.map { subject in
            let key = HopWorkload.Key(path: path, subject: subject)
            guard let places = executors(subject) else {
                return HopWorkload(key, near: PlainHopActor(), far: PlainHopActor())
            }
            let far = path == .twoExecutors ? places[1] : places[0]
            return HopWorkload(key, near: PinnedHopActor(on: places[0]), far: PinnedHopActor(on: far))
        }
    }

    /// The executor that the tasks of a path prefer; nil for the default executor.
    func preference(_ path: HopPath) -> (any TaskExecutor)? {
        path == .preferring ? loops[0].runLoop.taskExecutor : nil
    }

    /// Pins the threads for a path.
    ///
    /// They are not pinned if the default executor takes part, because its threads cannot be pinned.
    func place(for path: HopPath, on machine: Machine) {
        let placement: Placement =
            path == .pool ? .unpinned : machine.processors.count > 1 ? .twoProcessors : .oneProcessor
        placement.pin(near: nears, far: fars, on: machine)
    }

    private func executors(_ subject: HopSubject) -> [any SerialExecutor]? {
        switch subject {
        case .runLoops: loops.map(\.runLoop)
        case .parked: parkedLoops.map(\.runLoop)
        case .nio: nioLoops.map(\.loop.executor)
        case .standard: nil
        }
    }
}
