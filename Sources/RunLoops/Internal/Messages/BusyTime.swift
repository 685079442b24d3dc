internal import Synchronization

/// The time for which a loop has been busy: in a run, and not waiting.
///
/// The loop's thread writes the time, with plain stores, and only while the time is measured. Any thread can read it.
struct BusyTime: ~Copyable, Sendable {
    /// The busy time in nanoseconds, shifted left by one bit.
    ///
    /// While the loop is busy, the moment at which it became busy is subtracted from the nanoseconds, and bit 0 is set. This is one
    /// word, so that a reader never sees a period counted twice or not at all.
    private let word = Atomic<Int64>(0)
    /// The moment at which the loop became busy; 0 while it is not busy.
    private let beginning = Atomic<Int64>(0)

    /// Begins a period, unless a period is under way.
    func begin(at now: @autoclosure () -> Moment) {
        let before = word.load(ordering: .relaxed)
        if before & 1 == 1 { return }
        let now = now()
        beginning.store(now.nanoseconds, ordering: .relaxed)
        word.store((before >> 1 &- now.nanoseconds) << 1 | 1, ordering: .relaxed)
    }

    /// Ends the period that is under way, if there is one.
    func end(at now: @autoclosure () -> Moment) {
        let before = word.load(ordering: .relaxed)
        if before & 1 == 0 { return }
        beginning.store(0, ordering: .relaxed)
        word.store((before >> 1 &+ now().nanoseconds) << 1, ordering: .relaxed)
    }

    /// The busy time in nanoseconds until a moment, including the period that is under way.
    func nanoseconds(at now: Moment) -> Int64 {
        let word = word.load(ordering: .relaxed)
        return word & 1 == 0 ? word >> 1 : max(0, word >> 1 &+ now.nanoseconds)
    }

    /// The moment at which the present period began; nil if the loop waits, does not run, or is not measured.
    var since: Moment? {
        let began = beginning.load(ordering: .relaxed)
        return began == 0 ? nil : Moment(nanoseconds: began)
    }
}
