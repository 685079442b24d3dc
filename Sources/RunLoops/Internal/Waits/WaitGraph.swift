/// Who waits for whom, among the threads that block in this library.
///
/// A thread that is about to block asks whether those it would wait for wait for it already, directly or through others.
/// It enters in the same step. So of several threads that close one circle at the same moment the last one to enter sees
/// it, and what is in the graph has no circle.
///
/// A value without effects: ``ThreadWait`` keeps the process's one behind a lock.
struct WaitGraph {
    /// The waits that were entered, by what their threads hold meanwhile.
    private var waits: [Holding: [ThreadWait]] = [:]

    /// Whether a wait for something that was made at a place is entered.
    func holdsWait(of origin: SourceLocation) -> Bool {
        waits.values.contains { $0.contains { $0.origin.description == origin.description } }
    }

    /// Whether no wait is entered.
    var isEmpty: Bool { waits.isEmpty }

    /// Enters a wait, unless that would close a circle.
    ///
    /// - Returns: The circle, from this wait on, each for the thread of the next one; the shortest there is.
    mutating func enter(_ wait: ThreadWait) -> [ThreadWait]? {
        if let circle = circle(closedBy: wait) { return circle }
        enterAnyway(wait)
        return nil
    }

    /// Enters a wait, also if that closes a circle: one that will end by itself.
    mutating func enterAnyway(_ wait: ThreadWait) {
        for holding in wait.holdings { waits[holding, default: []].append(wait) }
    }

    /// The wait is over.
    mutating func leave(_ wait: ThreadWait) {
        for holding in wait.holdings {
            guard let index = waits.index(forKey: holding) else { continue }
            waits.values[index].removeAll { $0 === wait }
            if waits.values[index].isEmpty { waits.remove(at: index) }
        }
    }

    /// Looks for the way from what a wait is for back to its own thread, breadth first.
    private func circle(closedBy wait: ThreadWait) -> [ThreadWait]? {
        var reached = [Step(wait: wait, previous: 0)]
        var seen: Set<ObjectIdentifier> = []
        var position = 0
        while position < reached.count {
            for holding in reached[position].wait.stillWaitsFor() {
                if wait.holdings.contains(holding) { return way(to: position, in: reached) }
                for next in waits[holding] ?? [] where seen.insert(ObjectIdentifier(next)).inserted {
                    reached.append(Step(wait: next, previous: position))
                }
            }
            position += 1
        }
        return nil
    }

    /// A wait that was reached, and from which one.
    private struct Step {
        let wait: ThreadWait
        let previous: Int
    }

    private func way(to end: Int, in reached: [Step]) -> [ThreadWait] {
        var way: [ThreadWait] = []
        var position = end
        while position != 0 {
            way.append(reached[position].wait)
            position = reached[position].previous
        }
        way.append(reached[0].wait)
        return way.reversed()
    }
}
