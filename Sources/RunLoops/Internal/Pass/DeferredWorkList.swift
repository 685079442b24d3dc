/// The work that one loop puts off until the end of a pass, or until the loop is about to sleep.
///
/// This object owns two lists: the work for the end of each pass, and the work for the moment before a sleep.
///
/// > Thread safety: the loop's own thread only.
final class DeferredWorkList {
    private let members: LoopMembers

    /// The two lists of work.
    ///
    /// The lists are stored without exclusivity checks because each pass reads them; see ``ExclusivityUnchecked``.
    #if !CHECKS_EXCLUSIVITY
        @safe @exclusivity(unchecked)
    #endif
    private var lists = Lists()

    private struct Lists {
        var atPassEnd: [any DeferredWork] = []
        var whenIdle: [any DeferredWork] = []
    }

    init(_ members: LoopMembers) { self.members = members }

    /// True if there is work for the end of a pass, in any mode.
    var asksAtPassEnd: Bool { !lists.atPassEnd.isEmpty }

    /// True if there is work for the moment before a sleep, in any mode.
    var asksWhenIdle: Bool { !lists.whenIdle.isEmpty }

    /// True if there is work for the end of a pass that can be done in the current mode.
    var isReadyAtPassEnd: Bool { holdsWork(lists.atPassEnd) }

    /// True if there is work for the moment before a sleep that can be done in the current mode.
    var isReadyWhenIdle: Bool { holdsWork(lists.whenIdle) }

    @inline(__always)
    private func holdsWork(_ works: [any DeferredWork]) -> Bool { !works.isEmpty && holdsWorkInMode(works) }

    @inline(never)
    private func holdsWorkInMode(_ works: [any DeferredWork]) -> Bool {
        guard let mode = members.currentMode else { return false }
        return works.contains { $0.holdsWork(for: mode, isCommon: members.modeIsCommon) }
    }

    /// Returns true if there is work for the end of a pass that can be done in a mode.
    ///
    /// Such work keeps the mode alive, so that the loop can run in the mode.
    func holdsPassEndWork(for mode: Mode, isCommon: Bool) -> Bool {
        lists.atPassEnd.contains { $0.holdsWork(for: mode, isCommon: isCommon) }
    }

    /// Does the work for the end of a pass.
    ///
    /// Work that is added during the call waits for the end of the next pass.
    func performAtPassEnd() { perform(lists.atPassEnd) }

    /// Does the work for the moment before a sleep.
    func performWhenIdle() { perform(lists.whenIdle) }

    @inline(__always)
    private func perform(_ works: [any DeferredWork]) { if !works.isEmpty { performInMode(works) } }

    @inline(never)
    private func performInMode(_ works: [any DeferredWork]) {
        guard let mode = members.currentMode else { return }
        for work in works {
            members.handlers.call(.deferredWork, as: .deferredWork) {
                work.performWork(for: mode, isCommon: members.modeIsCommon)
            }
        }
    }

    /// What waits in both lists, in words.
    var waiting: [String] { (lists.atPassEnd + lists.whenIdle).flatMap(\.waitingParts) }

    func append(atPassEnd work: any DeferredWork) { lists.atPassEnd.append(work) }

    func append(whenIdle work: any DeferredWork) { lists.whenIdle.append(work) }

    func remove(_ work: any DeferredWork) {
        lists.atPassEnd.removeAll { $0 === work }
        lists.whenIdle.removeAll { $0 === work }
    }

    /// Removes and returns the work of both lists, because the loop ends.
    func removeAll() -> [any DeferredWork] {
        defer { lists = Lists() }
        return lists.atPassEnd + lists.whenIdle
    }
}
