internal import NIOCore
internal import RunLoops

/// From where to where a task goes.
enum HopPath: String, CaseIterable {
    case sameExecutor = "between two actors of one executor"
    case twoExecutors = "between actors of two executors"
    case pool = "between the default executor's threads and an actor"
    case preferring = "between a task's own code and an actor of the loop that it prefers"
    case start = "from an actor to a new task of its own, and back with its result"

    /// What one of the figures is for.
    var unit: String { self == .start ? "task" : "hop" }

    /// How many of them one step of a workload makes: there and back is two hops.
    var unitsPerStep: Int { self == .start ? 1 : 2 }

    /// Who can take this path.
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

    /// Ours or theirs.
    var role: Chart.Role { self == .runLoops || self == .parked ? .ours : .peer }
}

/// One subject on one path.
struct HopWorkload: Sendable {
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

/// An actor that tasks pass.
///
/// Every stop on the way changes something there: the compiler leaves out the way to a place where nothing is done, and
/// quite rightly.
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

    /// Starts a task of its own and waits for it, so many times; before and in it is counted.
    func startTasks(_ count: Int) async {
        for _ in 0..<count {
            passes &+= 1
            await Task { pass() }.value
        }
    }
}

/// An actor that lives on an executor of somebody's.
actor PinnedHopActor: HopActor {
    /// Held, because the reference to it is not counted.
    private let executor: any SerialExecutor
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }
    var passes = 0

    init(on executor: any SerialExecutor) { self.executor = executor }
}

/// An actor that lives nowhere in particular.
actor PlainHopActor: HopActor {
    var passes = 0
}

/// The threads that the workloads lead to, two of each kind, for as long as the program runs.
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

    /// What the tasks of a path prefer; nil for the default executor.
    func preference(_ path: HopPath) -> (any TaskExecutor)? {
        path == .preferring ? loops[0].runLoop.taskExecutor : nil
    }

    /// Puts the threads where the path wants them.
    ///
    /// What meets the default executor is free: that one's threads cannot be told where to be.
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
