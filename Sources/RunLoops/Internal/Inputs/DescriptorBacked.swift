/// A source that loops serve through a descriptor, of which the user of the source knows nothing.
///
/// In a loop a ``DescriptorSource`` stands for it, so that modes, nested runs and the loop's end are as for every other
/// descriptor. That one holds the source, and the source holds that one, from being added until it leaves the loop.
///
/// > Thread safety: the loop's own thread only.
protocol DescriptorBacked: AnyObject, CustomStringConvertible {
    var isValid: Bool { get }

    /// The source that stands for this one in its loop; nil while it is in none.
    var watch: DescriptorSource? { get set }

    /// Makes the source that stands for this one, and holds it.
    func makeWatch() -> DescriptorSource

    func invalidate()
}

extension DescriptorBacked {
    func join(_ list: LoopDescriptors, _ mode: RunLoop.Mode) throws(SystemError) {
        guard isValid, !list.members.hasEnded else { return }
        if let other = watch?.membership.loop, other !== list.members {
            misuse("RunLoop.add(source): the \(self) is in another loop; remove it there first")
        }
        let joining = watch ?? makeWatch()
        joining.onInvalidation = { [self] in invalidate() }
        try joining.join(list, mode)
        watch = joining
    }

    func leave(_ list: LoopDescriptors, _ mode: RunLoop.Mode) {
        guard let leaving = watch else { return }
        list.remove(leaving, from: mode)
        if leaving.membership.loop == nil { watch = nil }
    }
}
