/// An actor that tasks pass.
///
/// Every stop on the way changes something there: the compiler leaves out the way to a place where nothing is done, and
/// quite rightly.
protocol Station: Actor {
    /// How often it was passed.
    var passes: Int { get set }
}

extension Station {
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
actor PinnedStation: Station {
    /// Held, because the reference to it is not counted.
    private let executor: any SerialExecutor
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }
    var passes = 0

    init(on executor: any SerialExecutor) { self.executor = executor }
}

/// An actor that lives nowhere in particular.
actor PlainStation: Station {
    var passes = 0
}
