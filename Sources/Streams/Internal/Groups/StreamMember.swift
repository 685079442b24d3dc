internal import RunLoops

/// An object with a descriptor that a ``StreamGroup`` watches: a connection, a listener or an attempt to connect.
///
/// > Thread safety: the loop's own thread only.
protocol StreamMember: AnyObject {
    /// The groups that the member is in, with the member's slot in each group.
    var places: MemberPlaces { get set }

    /// Called when the kernel has reported that the descriptor is ready, or when the member has asked to be served.
    ///
    /// The group has spent for the first step, such as one call of a handler, and the member spends before each further step. If
    /// the budget refuses a step, the member makes sure that it is served again, behind all inputs of the loop that wait.
    ///
    /// - Parameters:
    ///   - readiness: The readiness bits of the kernel; empty if the member has asked.
    ///   - loop: The registry of the loop's connections and listeners.
    ///   - budget: The budget of this step of the pass. The group has counted one step for this call; call `spend` before each
    ///     further step.
    /// - Returns: True if a handler was called.
    func serve(_ readiness: EpollSet.Interest, in loop: LoopStreams, _ budget: inout Budget) -> Bool

    /// Called when the thread of the loop ends.
    func loopEnds()

    /// The description for an inspector.
    var part: InspectedPart { get }
}

/// The groups that a member is in, with the member's slot in each group.
///
/// There is one group for each mode of the member.
struct MemberPlaces {
    /// A group and the member's slot in it.
    struct Place {
        let group: StreamGroup
        let slot: Int
    }

    private(set) var list: [Place] = [] { didSet { version &+= 1 } }

    /// The kinds of readiness that the groups watch for.
    private(set) var interest: EpollSet.Interest

    init(_ interest: EpollSet.Interest) { self.interest = interest }

    var isEmpty: Bool { list.isEmpty }

    /// The number of times that ``list`` has changed.
    private(set) var version = 0

    func contains(_ group: StreamGroup) -> Bool { list.contains { $0.group === group } }

    /// Adds the member to a group, unless the member is in the group already.
    ///
    /// - Throws: `SystemError` if the kernel cannot watch the descriptor. The places are then not changed.
    mutating func join(
        _ group: StreamGroup, _ member: any StreamMember, _ descriptor: CInt
    ) throws(SystemError) {
        if contains(group) { return }
        list.append(Place(group: group, slot: try group.add(member, descriptor, interest)))
    }

    /// Removes the member from a group.
    mutating func leave(_ group: StreamGroup, _ descriptor: CInt) {
        guard let index = list.firstIndex(where: { $0.group === group }) else { return }
        let place = list.remove(at: index)
        group.remove(place.slot, descriptor)
    }

    /// Removes the member from all groups.
    mutating func leaveAll(_ descriptor: CInt) {
        while let place = list.popLast() { place.group.remove(place.slot, descriptor) }
    }

    /// Clears the list of places, because the groups have ended.
    mutating func forget() { list = [] }

    /// Changes the kinds of readiness for which the groups watch the descriptor.
    mutating func watch(for interest: EpollSet.Interest, _ descriptor: CInt) {
        if interest == self.interest { return }
        self.interest = interest
        for place in list { place.group.change(place.slot, descriptor, interest) }
    }

    /// Asks all groups of the member to serve the member, although the kernel has reported nothing.
    func askToBeServed() { for place in list { place.group.serveAgain(place.slot) } }
}
