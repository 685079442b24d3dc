internal import DequeModule
internal import RunLoops

/// The connections and listeners of one mode of a loop, in an epoll set of their own.
///
/// The loop watches the epoll set as one descriptor. So a change of the loop's mode costs the same for any number of connections. A
/// report carries the kernel's readiness bits unchanged.
///
/// > Thread safety: the loop's own thread only.
final class StreamGroup {
    private let streams: LoopStreams
    let mode: RunLoop.Mode
    private let set: EpollSet
    private let input: ServedInput

    private struct Slot {
        var member: (any StreamMember)?
        /// The number of members that used this slot before.
        ///
        /// The token of a member contains this number, so a report for an earlier member does not reach the current member.
        var generation: UInt32 = 0
        /// True while the member waits in `queue` because it has asked.
        var isAsking = false
    }

    private struct Lists {
        var slots: [Slot] = []
        var freeSlots: [Int] = []
        /// The kernel's reports that were not served yet, and the members that have asked to be served, whose readiness is empty.
        ///
        /// There is one queue for both. Otherwise a few members that always ask, because they always have more to do than the
        /// budget allows, would keep the kernel's reports waiting for ever.
        var queue = Deque<EpollSet.Report>()
        /// The number of reports of the kernel in the queue.
        var reportCount = 0
    }

    private let lists = ExclusivityUnchecked(Lists())

    init(_ streams: LoopStreams, _ mode: RunLoop.Mode, _ origin: SourceLocation) throws(SystemError) {
        self.streams = streams
        self.mode = mode
        set = try EpollSet()
        input = ServedInput(set.descriptor, isSet: true, origin, in: streams.loop)
    }

    /// The descriptions of the members for an inspector, one for each member.
    var memberParts: [InspectedPart] { lists.value.slots.compactMap { $0.member?.part } }

    var count: Int { lists.value.slots.count - lists.value.freeSlots.count }

    /// True if members wait to be served, apart from the one that is being served.
    var othersWait: Bool { !lists.value.queue.isEmpty }

    // MARK: - The member's side

    /// Adds a member to the group.
    ///
    /// - Returns: The member's slot.
    /// - Throws: `SystemError` if the kernel cannot watch the descriptor. The group is then not changed.
    func add(
        _ member: any StreamMember, _ descriptor: CInt, _ interest: EpollSet.Interest
    ) throws(SystemError) -> Int {
        let slot = lists.value.freeSlots.last ?? lists.value.slots.count
        let generation = slot < lists.value.slots.count ? lists.value.slots[slot].generation &+ 1 : 0
        do throws(SystemError) {
            try set.add(descriptor, interest, token: StreamGroup.token(slot, generation))
            if count == 0 { try input.join(mode, server: self) }
        } catch {
            set.remove(descriptor)
            if count == 0 { streams.forget(self) }
            throw error
        }
        if slot == lists.value.slots.count {
            lists.value.slots.append(Slot())
        } else {
            lists.value.freeSlots.removeLast()
        }
        lists.value.slots[slot].member = member
        lists.value.slots[slot].generation = generation
        return slot
    }

    /// Removes a member from the group; call this before the member's descriptor is closed.
    func remove(_ slot: Int, _ descriptor: CInt) {
        set.remove(descriptor)
        // The member is released last, because the handlers of a connection may own objects whose destruction calls back into this
        // group.
        let removed = lists.value.slots[slot].member.take()
        defer { withExtendedLifetime(removed) {} }
        lists.value.slots[slot].isAsking = false
        lists.value.freeSlots.append(slot)
        if count > 0 { return }
        // The last member has left. So the group leaves its mode, which it no longer keeps alive.
        forgetAll()
        input.leave()
    }

    private func forgetAll() {
        lists.value.slots = []
        lists.value.freeSlots = []
        lists.value.queue.removeAll()
        lists.value.reportCount = 0
        streams.forget(self)
    }

    func change(_ slot: Int, _ descriptor: CInt, _ interest: EpollSet.Interest) {
        let token = StreamGroup.token(slot, lists.value.slots[slot].generation)
        do throws(SystemError) { try set.change(descriptor, interest, token: token) } catch {
            preconditionFailure("the descriptor of a member is open and in the set: \(error)")
        }
    }

    func serveAgain(_ slot: Int) {
        if lists.value.slots[slot].isAsking { return }
        lists.value.slots[slot].isAsking = true
        let token = StreamGroup.token(slot, lists.value.slots[slot].generation)
        lists.value.queue.append(EpollSet.Report(token: token, readiness: []))
        input.becameReady()
    }

    private static func token(_ slot: Int, _ generation: UInt32) -> UInt64 {
        UInt64(generation) << 32 | UInt64(UInt32(slot))
    }

    private func member(of token: UInt64) -> (any StreamMember)? {
        let slot = Int(token & 0xffff_ffff)
        guard slot < lists.value.slots.count, lists.value.slots[slot].generation == UInt32(token >> 32) else {
            return nil
        }
        return lists.value.slots[slot].member
    }
}

extension StreamGroup: InputServer {
    func serve(in mode: RunLoop.Mode, _ budget: inout Budget) -> Served {
        var served = Served()
        streams.updateTime()
        if lists.value.reportCount == 0 {
            let before = lists.value.queue.count
            set.report(to: &lists.value.queue)
            lists.value.reportCount = lists.value.queue.count - before
        }
        // A member that asks from now on is served in the next pass.
        var rest = lists.value.queue.count
        while rest > 0, let next = lists.value.queue.first, budget.spend() {
            rest -= 1
            lists.value.queue.removeFirst()
            let hasAsked = next.readiness.isEmpty
            if !hasAsked { lists.value.reportCount -= 1 }
            guard let member = member(of: next.token) else { continue }
            if hasAsked { lists.value.slots[Int(next.token & 0xffff_ffff)].isAsking = false }
            if member.serve(next.readiness, in: streams, &budget) { served.calledHandler = true }
        }
        served.hasMore = !lists.value.queue.isEmpty
        return served
    }

    func didLeaveLoop() {
        // A group that still has members leaves the loop only because the loop's thread is ending.
        let members = lists.value.slots.compactMap { $0.member }
        forgetAll()
        // The places of all members are cleared first, because a handler of one member may close another member.
        for member in members { member.places.forget() }
        for member in members { member.loopEnds() }
    }
}
