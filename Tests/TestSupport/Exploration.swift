/// A walk through every state that the threads of a small machine can reach, whatever the order of their steps.
///
/// The shortest ways come first, so that what led to a failure is as short as it can be. The walk ends at the first state in
/// which something fails.
public struct Exploration<State: Hashable> {
    /// What failed; empty if nothing did.
    public private(set) var failures: Set<String> = []

    private var found: [State] = []
    /// From which state each was first reached.
    private var origins: [Int] = []
    private var known: Set<State> = []
    private var current = -1

    /// Walks.
    ///
    /// - Parameters:
    ///   - start: Where it begins.
    ///   - steps: Takes every step that some thread can take in a state, each time from that state: for each calls
    ///     ``reach(_:)`` with the state after it, and ``fail(_:)`` for what must not be.
    public init(from start: State, steps: (State, inout Exploration) -> Void) {
        reach(start)
        while current + 1 < found.count && failures.isEmpty {
            current += 1
            steps(found[current], &self)
        }
    }

    /// How many states were found.
    public var stateCount: Int { found.count }

    /// The states on the way to the failure, and that in which it was seen.
    public var trace: [State] {
        var trace: [State] = []
        var index = current
        while !failures.isEmpty && index >= 0 {
            trace.append(found[index])
            index = origins[index]
        }
        return trace.reversed()
    }

    /// A step leads to a state.
    ///
    /// - Parameter state: The state.
    public mutating func reach(_ state: State) {
        if !known.insert(state).inserted { return }
        found.append(state)
        origins.append(current)
    }

    /// Something is as it must not be.
    ///
    /// - Parameter what: What.
    public mutating func fail(_ what: String) { failures.insert(what) }
}
