/// Where an observation is in its life: the rule behind the removal guarantee.
///
/// It is made active, with no bits. Whoever removes it adds the first bit, and then asks whether a call of it is shown
/// by any thread (``CallRecord``). If none is, the observation is settled: it adds the second bit, and whoever added that
/// lets go of the handler. If one is, the call's own thread asks the same when it has returned.
///
/// Bits are only ever added, so that a look at them needs no exchange. They are computed: an unoptimized build makes a
/// system call for each look at a constant that is made on first use.
struct ObservationLife: OptionSet, Sendable {
    let rawValue: UInt8

    /// No call starts any more.
    static var removed: ObservationLife { ObservationLife(rawValue: 1) }
    /// No call runs any more: the handler is nobody's.
    static var settled: ObservationLife { ObservationLife(rawValue: 2) }
}
