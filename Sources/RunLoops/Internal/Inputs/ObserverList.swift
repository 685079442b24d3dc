/// The observers of a loop, in the order in which they are called: by ``RunLoop/Observer/order``, and those of equal order
/// in the order in which they were added.
///
/// Adding and removing cost O(log *n*) each, on average over many, besides one copy of the list in each moment that a
/// handler changes it.
struct ObserverList {
    /// One addition of an observer.
    struct Entry {
        fileprivate let order: Int
        /// Tells the additions apart, and grows from one to the next.
        let number: UInt64
        /// Nil once the observer has been removed.
        fileprivate(set) var observer: RunLoop.Observer?

        fileprivate static func < (left: Entry, right: Entry) -> Bool {
            left.order == right.order ? left.number < right.number : left.order < right.order
        }
    }

    /// First those in order, then those that were added since and belong further in front, by their numbers.
    ///
    /// A removed observer leaves a gap, which keeps its place.
    private var entries: [Entry] = []
    /// The number of entries in order.
    private var sortedCount = 0
    private var gaps = 0
    private var additions: UInt64 = 0

    /// The number of observers that want each moment, by its bit.
    private var wanting = InlineArray<8, Int>(repeating: 0)
    /// The moments that some observer wants, in any mode.
    private(set) var activities = RunLoop.Activity()

    /// The number of observers.
    var count: Int { entries.count - gaps }

    /// Adds an observer that is not here.
    ///
    /// - Returns: The number of the addition.
    mutating func add(_ observer: RunLoop.Observer) -> UInt64 {
        additions += 1
        let entry = Entry(order: observer.order, number: additions, observer: observer)
        let isNext = sortedCount == entries.count && entries.last.map { $0 < entry } ?? true
        entries.append(entry)
        if isNext { sortedCount += 1 }
        count(observer.activities, by: 1)
        return additions
    }

    /// Removes an observer.
    ///
    /// - Parameters:
    ///   - observer: The observer. The caller holds it, because the objects that its handler holds may be the user's.
    ///   - number: The number of its addition.
    mutating func remove(_ observer: RunLoop.Observer, _ number: UInt64) {
        let removed = Entry(order: observer.order, number: number, observer: nil)
        var place = firstPlace(in: 0..<sortedCount) { !($0 < removed) }
        if place == sortedCount || entries[place].number != number {
            place = firstPlace(in: sortedCount..<entries.count) { $0.number >= number }
        }
        precondition(
            place < entries.count && entries[place].observer === observer,
            "an observer is removed once, by the number of its addition")
        entries[place] = removed
        gaps += 1
        if gaps > entries.count / 2 { sort() }
        count(observer.activities, by: -1)
    }

    /// The observers in the order in which they are called.
    ///
    /// The list as it is now: an addition or a removal while a caller goes through it changes another one.
    mutating func inOrder() -> [Entry] {
        if sortedCount < entries.count { sort() }
        return entries
    }

    private mutating func sort() {
        entries.removeAll { $0.observer == nil }
        entries.sort(by: <)
        sortedCount = entries.count
        gaps = 0
    }

    /// The first place from which on a condition holds.
    private func firstPlace(in places: Range<Int>, where holds: (Entry) -> Bool) -> Int {
        var (low, high) = (places.lowerBound, places.upperBound)
        while low < high {
            let middle = (low + high) / 2
            if holds(entries[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }

    private mutating func count(_ wanted: RunLoop.Activity, by change: Int) {
        for bit in wanting.indices {
            let activity = RunLoop.Activity(rawValue: 1 << UInt(bit))
            if wanted.isDisjoint(with: activity) { continue }
            wanting[bit] += change
            if wanting[bit] > 0 { activities.insert(activity) } else { activities.remove(activity) }
        }
    }
}
