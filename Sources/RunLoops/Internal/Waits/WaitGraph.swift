/// The graph of waits among the threads that block in this library.
///
/// Before a thread A blocks and waits for a thread B, it checks for a circle. There is a circle if B is already waiting for A,
/// directly or through other threads. If there is none, A enters its own wait in the graph, under the same lock as the check. So if
/// several threads try to close one circle at the same moment, the last of them finds the circle, and does not enter its wait.
///
/// The graph is a value without side effects. ``ThreadWait`` keeps the graph of the process behind a lock.
struct WaitGraph {
    /// For each event, the waits in progress of the threads that alone can cause the event.
    ///
    /// A wait is listed under each of its ``ThreadWait/heldTargets``.
    private var waits: [WaitTarget: [ThreadWait]] = [:]

    /// A wait that is not in `waits`; nil if all are.
    ///
    /// Usually no other wait is in progress. Then a wait needs no place in the table, and closes no circle with another one.
    private var lone: ThreadWait?

    /// Returns true if the graph contains a wait with this origin.
    ///
    /// The origin is the source location of the call in which the thread waits. For `Port.send`, it is the source location at which
    /// the port was made.
    func holdsWait(of origin: SourceLocation) -> Bool {
        all.contains { $0.origin.description == origin.description }
    }

    /// True if the graph contains no wait.
    var isEmpty: Bool { lone == nil && waits.isEmpty }

    /// All waits in the graph, each listed once.
    var all: [ThreadWait] {
        var seen: Set<ObjectIdentifier> = []
        let others = waits.values.joined().filter { seen.insert(ObjectIdentifier($0)).inserted }
        return lone.map { [$0] + others } ?? others
    }

    /// Adds a wait to the graph, unless it would close a circle of threads that wait for each other.
    ///
    /// - Returns: The shortest circle; nil if there is none. The first element is this wait. Each element waits for the thread of
    ///   the next element.
    mutating func enter(_ wait: ThreadWait) -> [ThreadWait]? {
        if isEmpty {
            if wait.waitsForItself { return [wait] }
        } else if let circle = circle(closedBy: wait) {
            return circle
        }
        enterUnchecked(wait)
        return nil
    }

    /// Adds a wait to the graph even if it closes a circle, because one of the waits in the circle ends by itself.
    mutating func enterUnchecked(_ wait: ThreadWait) {
        if wait.heldTargets.isEmpty { return }
        if lone == nil {
            lone = wait
            return
        }
        for target in wait.heldTargets.all { waits[target, default: []].append(wait) }
    }

    /// Removes a wait from the graph, because the wait is over.
    mutating func leave(_ wait: ThreadWait) {
        if lone === wait {
            lone = nil
            return
        }
        for target in wait.heldTargets.all {
            guard let index = waits.index(forKey: target) else { continue }
            waits.values[index].removeAll { $0 === wait }
            if waits.values[index].isEmpty { waits.remove(at: index) }
        }
    }

    /// Returns the shortest circle that a new wait would close; nil if there is none.
    ///
    /// The search is breadth-first, and starts with the events that the new wait is for. From each event, the search continues with
    /// the waits of the threads that can cause the event, and then with the events that those waits are for. If the search reaches
    /// an event that only the thread of the new wait can cause, it has found a circle.
    private func circle(closedBy wait: ThreadWait) -> [ThreadWait]? {
        var reached = [Reached(wait: wait, previous: 0)]
        var seen: Set<ObjectIdentifier> = []
        var position = 0
        while position < reached.count {
            for target in reached[position].wait.stillWaitsFor() {
                if wait.heldTargets.contains(target) { return way(to: position, in: reached) }
                for next in waits[target] ?? [] where seen.insert(ObjectIdentifier(next)).inserted {
                    reached.append(Reached(wait: next, previous: position))
                }
                if let lone, lone.heldTargets.contains(target), seen.insert(ObjectIdentifier(lone)).inserted {
                    reached.append(Reached(wait: lone, previous: position))
                }
            }
            position += 1
        }
        return nil
    }

    /// One step of the search for a circle: a wait that was reached, and the position of the previous step.
    private struct Reached {
        let wait: ThreadWait
        let previous: Int
    }

    private func way(to end: Int, in reached: [Reached]) -> [ThreadWait] {
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
