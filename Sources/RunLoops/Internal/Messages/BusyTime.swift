internal import Synchronization

/// The total time for which a loop has been busy, that is, running and not waiting.
///
/// Only the loop's thread writes the time, with plain stores. It does so only while the loop's handlers are timed, watched or
/// recorded. Any thread can read the time.
struct BusyTime: ~Copyable, Sendable {
    /// A sum in nanoseconds, and a flag that is set while the loop is busy.
    ///
    /// Bit 0 is the flag, and the other bits are the sum. When the loop becomes busy, it subtracts the present moment from
    /// the sum. When it stops being busy, it adds the present moment. So the sum is the busy time while the flag is not set. While
    /// the flag is set, a reader adds the present moment to the sum to get the busy time. The sum and the flag share one atomic
    /// integer. With two separate integers, a reader could count the current busy period twice or not at all.
    private let word = Atomic<Int64>(0)
    /// The moment at which the loop became busy, in nanoseconds; 0 while it is not busy.
    private let beginning = Atomic<Int64>(0)

    /// Records that the loop becomes busy, unless it is busy already.
    func begin(at now: @autoclosure () -> Moment) {
        let before = word.load(ordering: .relaxed)
        if before & 1 == 1 { return }
        let now = now()
        beginning.store(now.nanoseconds, ordering: .relaxed)
        word.store((before >> 1 &- now.nanoseconds) << 1 | 1, ordering: .relaxed)
    }

    /// Records that the loop stops being busy, if it is busy.
    func end(at now: @autoclosure () -> Moment) {
        let before = word.load(ordering: .relaxed)
        if before & 1 == 0 { return }
        beginning.store(0, ordering: .relaxed)
        word.store((before >> 1 &+ now().nanoseconds) << 1, ordering: .relaxed)
    }

    /// Returns the busy time up to a moment, in nanoseconds, including the present busy period.
    func nanoseconds(at now: Moment) -> Int64 {
        let word = word.load(ordering: .relaxed)
        return word & 1 == 0 ? word >> 1 : max(0, word >> 1 &+ now.nanoseconds)
    }

    /// The moment at which the loop became busy; nil if the loop is waiting or not running, or the busy time is not measured.
    var since: Moment? {
        let began = beginning.load(ordering: .relaxed)
        return began == 0 ? nil : Moment(nanoseconds: began)
    }
}
