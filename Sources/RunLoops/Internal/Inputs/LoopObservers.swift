/// The observers of one loop.
///
/// It owns the list of observers. At each moment of the pass, it calls the observers of the current mode that want that moment.
///
/// > Thread safety: the loop's own thread only.
final class LoopObservers {
    let members: LoopMembers
    /// The observers, stored without exclusivity checks because each pass reads them several times; see
    /// ``ExclusivityUnchecked``.
    private let list = ExclusivityUnchecked(ObserverList())

    init(_ members: LoopMembers) { self.members = members }

    /// The moments that at least one observer wants, in any mode.
    var activities: RunLoop.Activity { list.value.activities }

    /// Calls the observers of the current mode that want this moment of the pass.
    @inline(__always)
    func notify(_ activity: RunLoop.Activity) {
        if !list.value.activities.isDisjoint(with: activity) { notifyWanted(activity) }
    }

    private func notifyWanted(_ activity: RunLoop.Activity) {
        guard let mode = members.currentMode else { return }
        // The loop iterates over the list as it is now. If an observer is added meanwhile, even one that was removed before,
        // the loop calls it only from the next moment on.
        for entry in list.value.inOrder() {
            guard let observer = entry.observer, observer.addition == entry.number else { continue }
            if observer.activities.contains(activity) && observer.membership.contains(mode) {
                observer.notify(activity, by: members.handlers)
            }
        }
    }

    /// Adds an observer that is not in the list.
    ///
    /// - Returns: The number of the addition.
    func append(_ observer: RunLoop.Observer) -> UInt64 { list.value.add(observer) }

    /// Removes an observer by the number of its addition.
    func remove(_ observer: RunLoop.Observer, _ number: UInt64) { list.value.remove(observer, number) }
}
