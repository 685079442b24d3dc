internal import DequeModule
internal import RunLoops

/// The connections and listeners of one mode of a loop, in an epoll set that the loop watches as one descriptor.
///
/// So a change of the loop's mode costs the same for any number of connections, and a report carries the kernel's readiness
/// bits unchanged.
///
/// > Thread safety: the loop's own thread only.
final class StreamGroup {
    private let streams: LoopStreams
    let mode: RunLoop.Mode
    private let set: EpollSet
    private let input: ServedInput

    private struct Slot {
        var member: (any StreamMember)?
        /// Distinguishes the member that a report is for from a later member in the same slot.
        var generation: UInt32 = 0
        /// True while the member is in the queue of members to be served without a report.
        var isAsking = false
    }

    private var slots: [Slot] = []
    private var freeSlots: [Int] = []
    /// The kernel's reports that have not been served yet.
    private var reports = Deque<EpollSet.Report>()
    /// The tokens of the members that have asked to be served.
    private var asking = Deque<UInt64>()

    init(_ streams: LoopStreams, _ mode: RunLoop.Mode, _ origin: SourceLocation) throws(SystemError) {
        self.streams = streams
        self.mode = mode
        set = try EpollSet()
        input = ServedInput(set.descriptor, isSet: true, origin, in: streams.loop)
    }

    /// The number of members.
    var count: Int { slots.count - freeSlots.count }

    // MARK: - The member's side

    /// Adds a member.
    ///
    /// - Returns: The member's slot.
    /// - Throws: `SystemError` if the kernel cannot watch the descriptor. The group is then not changed.
    func add(
        _ member: any StreamMember, _ descriptor: CInt, _ interest: EpollSet.Interest
    ) throws(SystemError) -> Int {
        let slot = freeSlots.last ?? slots.count
        let generation = slot < slots.count ? slots[slot].generation &+ 1 : 0
        do throws(SystemError) {
            try set.add(descriptor, interest, token: StreamGroup.token(slot, generation))
            if count == 0 { try input.join(mode, server: self) }
        } catch {
            set.remove(descriptor)
            if count == 0 { streams.forget(self) }
            throw error
        }
        if slot == slots.count { slots.append(Slot()) } else { freeSlots.removeLast() }
        slots[slot].member = member
        slots[slot].generation = generation
        return slot
    }

    /// Removes a member, before its descriptor is closed.
    func remove(_ slot: Int, _ descriptor: CInt) {
        set.remove(descriptor)
        slots[slot].member = nil
        slots[slot].isAsking = false
        freeSlots.append(slot)
        if count > 0 { return }
        // The last member has left, so the group no longer keeps its mode alive.
        slots = []
        freeSlots = []
        reports.removeAll()
        asking.removeAll()
        streams.forget(self)
        input.leave()
    }

    func change(_ slot: Int, _ descriptor: CInt, _ interest: EpollSet.Interest) {
        let token = StreamGroup.token(slot, slots[slot].generation)
        do throws(SystemError) { try set.change(descriptor, interest, token: token) } catch {
            preconditionFailure("the descriptor of a member is open and in the set: \(error)")
        }
    }

    func serveAgain(_ slot: Int) {
        if slots[slot].isAsking { return }
        slots[slot].isAsking = true
        asking.append(StreamGroup.token(slot, slots[slot].generation))
        input.becameReady()
    }

    private static func token(_ slot: Int, _ generation: UInt32) -> UInt64 {
        UInt64(generation) << 32 | UInt64(UInt32(slot))
    }

    private func member(of token: UInt64) -> (any StreamMember)? {
        let slot = Int(token & 0xffff_ffff)
        guard slot < slots.count, slots[slot].generation == UInt32(token >> 32) else { return nil }
        return slots[slot].member
    }
}

extension StreamGroup: InputServer {
    func serve(in mode: RunLoop.Mode, _ budget: inout Budget) -> Served {
        var served = Served()
        // Members that ask during this loop are served in the next pass.
        var rest = asking.count
        while rest > 0, let token = asking.first, budget.spend() {
            rest -= 1
            asking.removeFirst()
            guard let member = member(of: token) else { continue }
            slots[Int(token & 0xffff_ffff)].isAsking = false
            if member.serve([], in: streams) { served.calledHandler = true }
        }
        if reports.isEmpty { set.report(to: &reports) }
        while let report = reports.first, budget.spend() {
            reports.removeFirst()
            guard let member = member(of: report.token) else { continue }
            if member.serve(report.readiness, in: streams) { served.calledHandler = true }
        }
        served.hasMore = !reports.isEmpty || !asking.isEmpty
        return served
    }

    func didLeaveLoop() {
        // If the group still has members, it has left because the thread of the loop ends.
        let members = slots.compactMap { $0.member }
        slots = []
        freeSlots = []
        reports.removeAll()
        asking.removeAll()
        streams.forget(self)
        // Clears the places of all members first, because a handler of one member may close another.
        for member in members { member.places.forget() }
        for member in members { member.loopEnds() }
    }
}
