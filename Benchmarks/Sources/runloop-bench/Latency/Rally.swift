internal import CThreadControl
internal import Dispatch

/// The measuring side of a ping-pong: says when to send, and notes how long each answer took.
///
/// All subjects are measured by this one piece of code, raw included, so what measuring costs is in all alike.
final class Rally: @unchecked Sendable {
    // Safe because one thread at a time has it: the main thread until it starts a rally, then the near
    // side's thread until it signals `isOver`. The start and the signal order what they wrote.
    private let state: UnsafeMutablePointer<State>
    private let roundTrips: UnsafeMutablePointer<Int64>
    private let isOver = DispatchSemaphore(value: 0)

    // Behind a pointer, because properties of a class pay for exclusivity checks that would show in a
    // round trip between two spinning loops.
    private struct State {
        /// How many round trips are noted; below zero while warming up.
        var count = 0
        var sent: Int64 = 0
        var end: Int64 = 0
        var gap: Int64 = 0
        var length: Int64 = 0
        var failure: String?
    }

    private static let capacity = 1 << 16

    /// Round trips at the start of each rally that are not noted: the caches belong to the previous subject.
    private static let warmUp = 32

    init() {
        state = .allocate(capacity: 1)
        state.initialize(to: State())
        roundTrips = .allocate(capacity: Self.capacity)
    }

    deinit {
        state.deinitialize(count: 1)
        state.deallocate()
        roundTrips.deallocate()
    }

    /// The round trips of the last rally, in nanoseconds.
    var samples: UnsafeBufferPointer<Int64> {
        UnsafeBufferPointer(start: roundTrips, count: max(0, state.pointee.count))
    }

    /// Sets the next rally up.
    ///
    /// - Parameters:
    ///   - length: When to stop.
    ///   - gap: The least time between two pings, or zero to send each as soon as the last was answered.
    func prepare(length: Duration, gap: Duration) {
        state.pointee = State(count: -Self.warmUp, gap: gap.nanoseconds, length: length.nanoseconds)
    }

    /// Begins the rally: the near side's thread calls it, and then sends the first ping.
    func begin() {
        state.pointee.sent = bench_now()
        state.pointee.end = state.pointee.sent + state.pointee.length
    }

    /// Notes an answer; true if another ping is to be sent, now.
    @inline(__always)
    func returned() -> Bool {
        var now = bench_now()
        let count = state.pointee.count
        if count >= 0 { roundTrips[count] = now - state.pointee.sent }
        state.pointee.count = count + 1
        if (now >= state.pointee.end && count >= 0) || count + 1 == Self.capacity {
            isOver.signal()
            return false
        }
        // Spins out the gap: sleeping would let the near processor go idle, and measure that too.
        if state.pointee.gap > 0 {
            let due = state.pointee.sent + state.pointee.gap
            while now < due {
                bench_pause()
                now = bench_now()
            }
        }
        state.pointee.sent = now
        return true
    }

    /// Gives up.
    func fail(_ reason: String) {
        state.pointee.failure = reason
        isOver.signal()
    }

    /// Waits for the end; the reason if there is no good one.
    func wait() -> String? {
        let hasEnded = isOver.wait(timeout: .now() + .seconds(120)) == .success
        return hasEnded ? state.pointee.failure : "no answer in two minutes"
    }
}

extension Duration {
    /// Whole nanoseconds.
    var nanoseconds: Int64 { Int64(self / .nanoseconds(1)) }
}
