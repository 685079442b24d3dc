/// The state of an observation, on which the removal guarantee rests.
///
/// At first the observation is active, and no bit is set. The first removal adds ``removed``, then checks whether any thread has
/// published a call of the observation (``CallRecord``). If there is no such call, the observation is settled: ``settled`` is
/// added, and the thread that added it releases the handler. If there is such a call, its thread repeats the check when the call
/// has returned.
///
/// Bits are only ever added, so reading them takes no atomic exchange. The bits are computed properties, because an unoptimized
/// build makes a system call each time it reads a constant that is initialized on first use.
struct ObservationState: OptionSet, Sendable {
    let rawValue: UInt8

    /// The observation was removed: no new call of it starts.
    static var removed: ObservationState { ObservationState(rawValue: 1) }
    /// The last call has returned: no thread uses the handler.
    static var settled: ObservationState { ObservationState(rawValue: 2) }
}
