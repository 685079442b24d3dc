/// A source that is implemented with a hidden file descriptor, which the loop watches.
///
/// While this source is in a loop, a ``DescriptorSource`` represents it there. So modes, nested runs and the loop's end work as for
/// every other descriptor. The two sources hold references to each other from the time this source is added until it leaves the
/// loop.
///
/// > Thread safety: the loop's own thread only.
protocol DescriptorBacked: Removable, CustomStringConvertible {
    /// The descriptor source that represents this source in its loop; nil while this source is in no loop.
    var watch: DescriptorSource? { get set }

    /// Makes the descriptor source that represents this source.
    ///
    /// The descriptor source holds a reference to this source.
    func makeWatch() -> DescriptorSource
}

extension DescriptorBacked {
    func join(_ list: LoopDescriptors, _ mode: Mode) throws(SystemError) {
        guard !end.hasEnded, !list.members.hasEnded else { return }
        if let other = watch?.membership.loop, other !== list.members {
            misuse("RunLoop.add(source): the \(self) is in another loop; remove it there first")
        }
        guard end.join(list.members.handle) else { return }
        let joining = watch ?? makeWatch()
        joining.onInvalidation = { [self] in endHere() }
        try joining.join(list, mode)
        watch = joining
    }

    func leave(_ loop: LoopMembers, _ mode: Mode) {
        guard let leaving = watch else { return }
        leaving.leave(loop, mode)
        if leaving.membership.loop == nil { watch = nil }
    }

    func modes(in loop: LoopMembers) -> [Mode] { watch?.modes(in: loop) ?? [] }

    /// True if the source may be served now; the loop calls this for the watch, which is in the current mode.
    var isAdmitted: Bool { end.isUntouched || isAdmittedAfterHandOvers }

    private var isAdmittedAfterHandOvers: Bool {
        guard let loop = watch?.membership.loop, loop.admits(touched: end) else { return false }
        guard let mode = loop.currentMode else { return false }
        return watch?.membership.contains(mode) ?? false
    }
}
