/// A walk through every state that the threads of a small machine can reach, in every order of their steps.
///
/// The shortest ways come first, so that the way to a failure is as short as it can be. The walk ends at the first state in
/// which something fails.
public struct Exploration<State: Hashable> {
    /// The failures of the state at which the walk has ended; empty if there was none.
    public private(set) var failures: Set<String> = []

    private var found: [State] = []
    /// For each state the one from which it was first reached.
    private var origins: [Int] = []
    private var current = -1

    // A hash table of the states' numbers. A set would keep each state a second time, and would hash all of them again whenever
    // it grows, which takes longer than all the rest where code is not optimized.
    private var hashes: [Int] = []
    /// Numbers from 1 on; 0 for a free place.
    private var places: [Int32] = Array(repeating: 0, count: 1024)

    /// Walks.
    ///
    /// - Parameters:
    ///   - start: The state in which it begins.
    ///   - steps: Takes every step that some thread can take in a state, each time from that state: for each calls
    ///     ``reach(_:)`` with the state after it, and ``fail(_:)`` for what must not be.
    public init(from start: State, steps: (State, inout Exploration) -> Void) {
        reach(start)
        while current + 1 < found.count && failures.isEmpty {
            current += 1
            steps(found[current], &self)
        }
    }

    /// The number of states that were found.
    public var stateCount: Int { found.count }

    /// The states on the way to the failure, and the one in which it was seen.
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

    /// Something is as it must not be.
    ///
    /// - Parameter failure: A description, the same for all failures of its kind.
    public mutating func fail(_ failure: String) { failures.insert(failure) }
}
