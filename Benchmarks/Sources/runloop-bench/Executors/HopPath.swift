/// From where to where a task goes.
enum HopPath: String, CaseIterable {
    case sameExecutor = "between two actors of one executor"
    case twoExecutors = "between actors of two executors"
    case pool = "between the default executor's threads and an actor"
    case preferring = "between a task's own code and an actor of the loop that it prefers"
    case start = "from an actor to a new task of its own, and back with its result"

    /// What one of the figures is for.
    var unit: String { self == .start ? "task" : "hop" }

    /// How many of them one step of a walk makes: there and back is two hops.
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
