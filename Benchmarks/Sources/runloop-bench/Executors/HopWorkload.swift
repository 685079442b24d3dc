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

    /// The number of units in one step of a workload: a hop there and a hop back, or one task.
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
    /// Runs the given number of steps.
    let run: @Sendable (_ steps: Int) async -> Void
    /// Returns the number of visits so far, two for each step.
    let visits: @Sendable () async -> Int

    /// Creates a workload that hops between two actors, or from one actor to its own tasks.
    init<Place: HopActor>(_ key: Key, near: Place, far: Place) {
        self.key = key
        switch key.path {
        case .sameExecutor, .twoExecutors:
            run = { steps in await near.hop(to: far, steps: steps) }
            visits = { await near.visits + far.visits }
        case .pool, .preferring:
            let own = CallCounter()
            run = { steps in await HopWorkload.hop(from: own, to: far, steps: steps) }
            visits = { await own.count + far.visits }
        case .start:
            run = { steps in await near.startTasks(steps) }
            visits = { await near.visits }
        }
    }

    /// Hops between nonisolated code and an actor.
    ///
    /// The code runs on the default executor, or on the executor that the task prefers.
    @concurrent private static func hop(from own: CallCounter, to far: some HopActor, steps: Int) async {
        for _ in 0..<steps {
            own.increment()
            await far.visit()
        }
    }
}

/// An actor that tasks visit.
///
/// Each visit changes the actor's state, because the compiler removes a hop to an actor that does nothing.
protocol HopActor: Actor {
    /// The number of visits.
    var visits: Int { get set }
}

extension HopActor {
    /// Counts a visit.
    func visit() { visits &+= 1 }

    /// Hops to another actor and back, `steps` times.
    ///
    /// Both actors count their visits.
    func hop(to other: Self, steps: Int) async {
        for _ in 0..<steps {
            visits &+= 1
            await other.visit()
        }
    }

    /// Starts a task of the actor and waits for its end, `count` times.
    ///
    /// Counts one visit before each task, and one visit in the task.
    func startTasks(_ count: Int) async {
        for _ in 0..<count {
            visits &+= 1
            await Task { visit() }.value
        }
    }
}

/// An actor on a given executor.
actor PinnedHopActor: HopActor {
    /// The executor is stored because the unowned reference does not keep it alive.
    private let executor: any SerialExecutor
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }
    var visits = 0

    init(on executor: any SerialExecutor) { self.executor = executor }
}

/// An actor on the default executor.
actor PlainHopActor: HopActor {
    var visits = 0
}

/// The executors that tasks hop to: two of each kind, for the lifetime of the program.
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
        let numbers = try loops.map { try $0.prepare() }
        let parked = try parkedLoops.map { try $0.prepare(.park) }
        nears = [numbers[0], parked[0], nioLoops[0].number]
        fars = [numbers[1], parked[1], nioLoops[1].number]
    }

    /// The workloads of a path.
    func workloads(_ path: HopPath) -> [HopWorkload] {
        path.subjects.map { subject in
            let key = HopWorkload.Key(path: path, subject: subject)
            guard let executors = executors(of: subject) else {
                return HopWorkload(key, near: PlainHopActor(), far: PlainHopActor())
            }
            let far = path == .twoExecutors ? executors[1] : executors[0]
            return HopWorkload(key, near: PinnedHopActor(on: executors[0]), far: PinnedHopActor(on: far))
        }
    }

    /// The executor that the tasks of a path prefer, or nil for the default executor.
    func preference(_ path: HopPath) -> (any TaskExecutor)? {
        path == .preferring ? loops[0].runLoop.taskExecutor : nil
    }

    /// Pins the threads for a path.
    ///
    /// No thread is pinned if the default executor takes part, because its threads cannot be pinned.
    func place(for path: HopPath, on machine: Machine) {
        let placement: Placement =
            path == .pool ? .unpinned : machine.processors.count > 1 ? .twoProcessors : .oneProcessor
        placement.pin(near: nears, far: fars, on: machine)
    }

    private func executors(of subject: HopSubject) -> [any SerialExecutor]? {
        switch subject {
        case .runLoops: loops.map(\.runLoop)
        case .parked: parkedLoops.map(\.runLoop)
        case .nio: nioLoops.map(\.loop.executor)
        case .standard: nil
        }
    }
}
