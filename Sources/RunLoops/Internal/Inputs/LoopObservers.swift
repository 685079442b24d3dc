/// The observers of one loop.
///
/// This object owns the list of observers. At each ``RunLoop/Activity``, it calls the observers that want this activity and are in
/// the current mode.
///
/// > Thread safety: the loop's own thread only.
final class LoopObservers {
    let members: LoopMembers
    /// The observers.
    ///
    /// They are stored without exclusivity checks because each pass reads them several times; see ``ExclusivityUnchecked``.
    #if !CHECKS_EXCLUSIVITY
        @safe @exclusivity(unchecked)
    #endif
    private var list = ObserverList()

    init(_ members: LoopMembers) { self.members = members }

    /// The activities that at least one observer wants, in any mode.
    var activities: Activity { list.activities }

    /// Calls each observer that wants the given activity and is in the current mode.
    @inline(__always)
    func notify(_ activity: Activity) {
        if !list.activities.isDisjoint(with: activity) { notifyWanted(activity) }
    }

    private func notifyWanted(_ activity: Activity) {
        guard let mode = members.currentMode else { return }
        // The loop iterates over a copy of the list. If a handler adds an observer, even an observer that was removed before, the
        // loop calls that observer only from the next activity on.
        for entry in list.inOrder() {
            guard let observer = entry.observer, observer.addition == entry.number else { continue }
            if observer.activities.contains(activity) && observer.membership.contains(mode) {
                observer.notify(activity, in: members)
            }
        }
    }

    /// Adds an observer that is not in the list.
    ///
    /// - Returns: The number of the addition, for ``remove(_:_:)``.
    func append(_ observer: Observer) -> UInt64 { list.add(observer) }

    /// Removes an observer, by the number that ``append(_:)`` returned for it.
    func remove(_ observer: Observer, _ number: UInt64) { list.remove(observer, number) }
}
