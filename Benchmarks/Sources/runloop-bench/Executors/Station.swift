/// An actor that tasks pass.
///
/// Every stop on the way changes something there: the compiler leaves out the way to a place where nothing is done, and
/// quite rightly.
protocol Station: Actor {
    /// How often it was passed.
    var passes: Int { get }

    /// Passes it once.
    func pass()

    /// Goes to another station and back, so many times; both count it.
    func walk(to other: Self, steps: Int) async

    /// Starts a task of its own and waits for it, so many times; before and in it is counted.
    func startTasks(_ count: Int) async
}

/// An actor that lives on an executor of somebody's.
actor PinnedStation: Station {
    /// Held, because the reference to it is not counted.
    private let executor: any SerialExecutor
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }
    private(set) var passes = 0

    init(on executor: any SerialExecutor) { self.executor = executor }

    func pass() { passes &+= 1 }

    func walk(to other: PinnedStation, steps: Int) async {
        for _ in 0..<steps {
            passes &+= 1
            await other.pass()
        }
    }

    func startTasks(_ count: Int) async {
        for _ in 0..<count {
            passes &+= 1
            await Task { pass() }.value
        }
    }
}

/// An actor that lives nowhere in particular.
actor PlainStation: Station {
    private(set) var passes = 0

    func pass() { passes &+= 1 }

    func walk(to other: PlainStation, steps: Int) async {
        for _ in 0..<steps {
            passes &+= 1
            await other.pass()
        }
    }

    func startTasks(_ count: Int) async {
        for _ in 0..<count {
            passes &+= 1
            await Task { pass() }.value
        }
    }
}
