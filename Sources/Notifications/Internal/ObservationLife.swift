/// Where an observation is in its life: the rule behind the removal guarantee.
///
/// A value without effects: each event answers what its caller does next. ``Observation`` keeps it in one
/// atomic word, so that the event and its answer are one step for all threads.
struct ObservationLife: Equatable, Sendable {
    /// One bit for the end, the others count the calls that run.
    private(set) var bits: UInt64

    private static let removedBit: UInt64 = 1
    private static let oneCall: UInt64 = 2

    /// Made, and calls may start.
    static let active = ObservationLife(bits: 0)

    init(bits: UInt64) { self.bits = bits }

    /// No call starts any more.
    var isRemoved: Bool { bits & ObservationLife.removedBit != 0 }

    /// How many calls run, on all threads, nested ones counted each.
    var runningCalls: Int { Int(bits / ObservationLife.oneCall) }

    /// What the caller of an event does next.
    enum Action: Equatable {
        /// Call the handler.
        case call
        /// Leave the handler alone.
        case skip
        /// Let go of the handler, and let through who waits for the end: nobody will use it again.
        case finish
        /// Nothing.
        case nothing
    }

    /// A post wants to call the handler.
    mutating func begin() -> Action {
        if isRemoved { return .skip }
        bits += ObservationLife.oneCall
        return .call
    }

    /// A call has returned.
    mutating func end() -> Action {
        precondition(runningCalls > 0, "a call ends once")
        bits -= ObservationLife.oneCall
        return isRemoved && runningCalls == 0 ? .finish : .nothing
    }

    /// Somebody removes the observation.
    mutating func remove() -> Action {
        if isRemoved { return .nothing }
        bits |= ObservationLife.removedBit
        return runningCalls == 0 ? .finish : .nothing
    }
}
