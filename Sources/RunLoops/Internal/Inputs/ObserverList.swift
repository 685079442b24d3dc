/// The observers of a loop, in the order in which they are called.
///
/// The list is sorted by ``RunLoop/Observer/order``; observers of equal order are called in the order in which they were added.
///
/// Adding and removing cost O(log *n*) each, averaged over many calls. In addition, if a handler changes the list while the loop
/// iterates over it, the list is copied once for that iteration.
struct ObserverList {
    /// One addition of an observer to the list.
    struct Entry {
        fileprivate let order: Int
        /// The number of the addition; it is greater than the numbers of all earlier additions.
        let number: UInt64
        /// The observer; nil after it was removed.
        fileprivate(set) var observer: Observer?

        fileprivate static func < (left: Entry, right: Entry) -> Bool {
            left.order == right.order ? left.number < right.number : left.order < right.order
        }
    }

    /// The sorted entries, followed by the unsorted entries that were added since the last sort.
    ///
    /// The unsorted entries are in the order of their numbers.
    ///
    /// A removed observer leaves a gap: an entry without an observer.
    private var entries: [Entry] = []
    /// The number of sorted entries at the front.
    private var sortedCount = 0
    private var gaps = 0
    private var additions: UInt64 = 0

    /// For each activity, the number of observers that want it.
    ///
    /// The index is the position of the activity's bit in ``RunLoop/Activity``.
    private var wanting = InlineArray<8, Int>(repeating: 0)
    /// The activities that at least one observer wants, in any mode.
    private(set) var activities = Activity()

    /// The number of observers.
    var count: Int { entries.count - gaps }

    /// Adds an observer that is not in the list.
    ///
    /// - Returns: The number of the addition, for ``remove(_:_:)``.
    mutating func add(_ observer: Observer) -> UInt64 {
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
    ///   - observer: The observer. The caller must hold a reference to it. Otherwise this method would destroy the observer and the
    ///     objects that its handler holds, and their destruction can run user code.
    ///   - number: The number that ``add(_:)`` returned for the observer.
    mutating func remove(_ observer: Observer, _ number: UInt64) {
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

    /// Returns the observers in the order in which they are called.
    ///
    /// If an observer is added or removed while the caller iterates over the result, the result does not change.
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

    /// Returns the first place in a range at which a condition is true.
    ///
    /// The condition must be true at all later places, too.
    private func firstPlace(in places: Range<Int>, where holds: (Entry) -> Bool) -> Int {
        var (low, high) = (places.lowerBound, places.upperBound)
        while low < high {
            let middle = (low + high) / 2
            if holds(entries[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }

    private mutating func count(_ wanted: Activity, by change: Int) {
        for bit in wanting.indices {
            let activity = Activity(rawValue: 1 << UInt(bit))
            if wanted.isDisjoint(with: activity) { continue }
            wanting[bit] += change
            if wanting[bit] > 0 { activities.insert(activity) } else { activities.remove(activity) }
        }
    }
}
