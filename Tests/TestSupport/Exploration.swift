/// An exploration of all states that the threads of a small machine can reach, in every interleaving of their steps.
///
/// The exploration is breadth-first, so that the path to a failure is one of the shortest. It ends at the first state with a
/// failure.
public struct Exploration<State: Hashable> {
    /// The failures of the state at which the exploration has ended; empty if there was none.
    public private(set) var failures: Set<String> = []

    private var found: [State] = []
    /// For each state, the state from which it was first reached.
    private var origins: [Int] = []
    private var current = -1

    // A hash table of the numbers of the states. A set would store each state again, and would hash all states again whenever it
    // grows. In unoptimised code that takes longer than the rest of the exploration.
    private var hashes: [Int] = []
    /// The numbers of states, counted from 1, or 0 for a free place.
    private var places: [Int32] = Array(repeating: 0, count: 1024)

    /// Explores the states.
    ///
    /// - Parameters:
    ///   - start: The first state.
    ///   - steps: Called with each state. It makes every step that a thread can make in that state, calls ``reach(_:)`` with each
    ///     resulting state, and ``fail(_:)`` for each violation.
    public init(from start: State, steps: (State, inout Exploration) -> Void) {
        reach(start)
        while current + 1 < found.count && failures.isEmpty {
            current += 1
            steps(found[current], &self)
        }
    }

    /// The number of states that were found.
    public var stateCount: Int { found.count }

    /// The states on the path to the failure, including the state with the failure.
    public var trace: [State] {
        var trace: [State] = []
        var index = current
        while !failures.isEmpty && index >= 0 {
            trace.append(found[index])
            index = origins[index]
        }
        return trace.reversed()
    }

    /// Notes a state to which a step leads.
    ///
    /// - Parameter state: The state.
    public mutating func reach(_ state: State) {
        let hash = state.hashValue
        var place = hash & (places.count - 1)
        while places[place] != 0 {
            let number = Int(places[place]) - 1
            if hashes[number] == hash && found[number] == state { return }
            place = (place + 1) & (places.count - 1)
        }
        found.append(state)
        origins.append(current)
        hashes.append(hash)
        places[place] = Int32(found.count)
        if found.count * 2 > places.count { grow() }
    }

    private mutating func grow() {
        places = Array(repeating: 0, count: places.count * 4)
        for (number, hash) in hashes.enumerated() {
            var place = hash & (places.count - 1)
            while places[place] != 0 { place = (place + 1) & (places.count - 1) }
            places[place] = Int32(number + 1)
        }
    }

    /// Notes a violation in the current state.
    ///
    /// - Parameter failure: A description, which is the same for all failures of one kind.
    public mutating func fail(_ failure: String) { failures.insert(failure) }
}
