internal import CThreadControl
internal import Dispatch
internal import RunLoops

/// Two threads that wake each other by one means.
protocol PingPong: AnyObject {
    /// The threads of the side that measures.
    var nearThreads: [ThreadNumber] { get }
    /// The threads of the side that answers.
    var farThreads: [ThreadNumber] { get }

    /// Puts both sides' threads where the placement wants them.
    func place(_ placement: Placement, on machine: Machine)

    /// Starts the timer that was prepared. Its end is the timer's to tell.
    func start()

    /// How often, so far, a side that spun had work before it would have slept; `nil` for those that never spin.
    var spinHits: Int? { get }

    /// What a reader must know about the rallies so far.
    var remark: String? { get }
}

extension PingPong {
    func place(_ placement: Placement, on machine: Machine) {
        placement.pin(near: nearThreads, far: farThreads, on: machine)
    }

    var spinHits: Int? { nil }

    var remark: String? { nil }
}

/// The means of waking that are compared.
enum PingPongSubject: String, CaseIterable {
    case raw = "raw eventfd + epoll (C)"
    case cacheLine = "cache line, both spin"
    case port = "RunLoops, park, port"
    case perform = "RunLoops, park, perform"
    case spinning = "RunLoops, spin, port"
    case adaptive = "RunLoops, adaptive, port"
    case foundation = "Foundation perform + wake"
    case dispatch = "Dispatch async (†)"
    case nio = "SwiftNIO execute"

    /// Whether it can be measured there: two threads that spin on one processor wait for the scheduler.
    func isPossible(in placement: Placement) -> Bool { self != .cacheLine || placement == .twoProcessors }

    /// Ours, theirs or neither.
    var role: Chart.Role {
        switch self {
        case .raw, .cacheLine: .yardstick
        case .port, .perform, .spinning, .adaptive: .ours
        case .foundation, .dispatch, .nio: .peer
        }
    }
}

extension PingPongSubject {
    /// Starts this subject's threads.
    func make(timer: RoundTripTimer) throws -> any PingPong {
        switch self {
        case .raw: RawPingPong(timer: timer)
        case .cacheLine: CacheLinePingPong(timer: timer)
        case .port: try RunLoopPingPong(policy: .park, usesPorts: true, timer: timer)
        case .perform: try RunLoopPingPong(policy: .park, usesPorts: false, timer: timer)
        case .spinning:
            // Longer than any answer of a loop that spins too, shorter than a subject's turn.
            try RunLoopPingPong(policy: .spin(for: .microseconds(50)), usesPorts: true, timer: timer)
        case .adaptive: try RunLoopPingPong(policy: .adaptive, usesPorts: true, timer: timer)
        case .foundation: FoundationPingPong(timer: timer)
        case .dispatch: DispatchPingPong(timer: timer)
        case .nio: NIOPingPong(timer: timer)
        }
    }
}

/// The measuring side of a ping-pong: says when to send, and notes how long each answer took.
///
/// All subjects are measured by this one piece of code, raw included, so what measuring costs is in all alike.
final class RoundTripTimer: @unchecked Sendable {
    // Safe because one thread at a time has it: the main thread until it starts a timer, then the near
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

    /// Round trips at the start of each timer that are not noted: the caches belong to the previous subject.
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

    /// The round trips of the last timer, in nanoseconds.
    var samples: UnsafeBufferPointer<Int64> {
        UnsafeBufferPointer(start: roundTrips, count: max(0, state.pointee.count))
    }

    /// Sets the next timer up.
    ///
    /// - Parameters:
    ///   - length: When to stop.
    ///   - gap: The least time between two pings, or zero to send each as soon as the last was answered.
    func prepare(length: Duration, gap: Duration) {
        state.pointee = State(count: -Self.warmUp, gap: gap.nanoseconds, length: length.nanoseconds)
    }

    /// Begins the timer: the near side's thread calls it, and then sends the first ping.
    func begin() {
        state.pointee.sent = bench_now()
        state.pointee.end = state.pointee.sent + state.pointee.length
    }

    /// Notes an answer; true if another ping is to be sent, now.
    @inline(__always)
    func answered() -> Bool {
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
