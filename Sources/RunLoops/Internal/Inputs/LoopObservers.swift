/// The observers of one loop.
///
/// It owns the list of observers, and calls those of the current mode that want a moment of the pass.
///
/// > Thread safety: the loop's own thread only.
final class LoopObservers {
    let members: LoopMembers
    /// Without the checks that a class's properties cost, which ``ExclusivityUnchecked`` argues: each pass reads it several
    /// times.
    private let list = ExclusivityUnchecked(ObserverList())

    init(_ members: LoopMembers) { self.members = members }

    /// The moments that some observer wants, in any mode.
    var activities: RunLoop.Activity { list.value.activities }

    /// Calls the observers of the current mode that want this moment of the pass.
    @inline(__always)
    func notify(_ activity: RunLoop.Activity) {
        if !list.value.activities.isDisjoint(with: activity) { notifyWanted(activity) }
    }

    private func notifyWanted(_ activity: RunLoop.Activity) {
        guard let mode = members.currentMode else { return }
        // The list is the one of now: an observer that is added meanwhile is called from the next moment on, also if it was
        // removed before.
        for entry in list.value.inOrder() {
            guard let observer = entry.observer, observer.addition == entry.number else { continue }
            if observer.activities.contains(activity) && observer.membership.contains(mode) {
                observer.notify(activity, by: members.handlers)
            }
        }
    }

    /// Adds an observer that is not here.
    ///
    /// - Returns: The number of the addition.
    func append(_ observer: RunLoop.Observer) -> UInt64 { list.value.add(observer) }

    /// Removes an observer by the number of its addition.
    func remove(_ observer: RunLoop.Observer, _ number: UInt64) { list.value.remove(observer, number) }
}
