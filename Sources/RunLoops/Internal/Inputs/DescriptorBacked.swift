/// A source that loops serve through a descriptor, of which the user of the source knows nothing.
///
/// In a loop a ``DescriptorSource`` stands for it, so that modes, nested runs and the loop's end are as for every other
/// descriptor. That one holds the source, and the source holds that one, from being added until it leaves the loop.
///
/// > Thread safety: the loop's own thread only.
protocol DescriptorBacked: AnyObject, CustomStringConvertible {
    var isValid: Bool { get }

    /// What stands for the source in its loop; nil while it is in none.
    var watch: DescriptorSource? { get set }

    /// Makes what stands for the source; it holds the source.
    func makeWatch() -> DescriptorSource

    func invalidate()
}

extension DescriptorBacked {
    func join(_ core: LoopCore, _ mode: RunLoop.Mode) throws(SystemError) {
        guard isValid, !core.hasEnded else { return }
        if let other = watch?.membership.loop, other !== core {
            misuse("RunLoop.add(source): the \(self) is in another loop; remove it there first")
        }
        let joining = watch ?? makeWatch()
        joining.onInvalidation = { [self] in invalidate() }
        try joining.join(core, mode)
        watch = joining
    }

    func leave(_ core: LoopCore, _ mode: RunLoop.Mode) {
        guard let leaving = watch else { return }
        core.remove(leaving, from: mode)
        leaving.update(in: core)
        if leaving.membership.loop == nil { watch = nil }
    }
}
