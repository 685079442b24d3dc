internal import CThreadControl
internal import Dispatch
internal import RunLoops

/// Two threads that wake each other up by one mechanism.
protocol PingPong: AnyObject {
    /// The threads of the side that measures.
    var nearThreads: [ThreadNumber] { get }
    /// The threads of the side that answers.
    var farThreads: [ThreadNumber] { get }

    /// Pins the threads of both sides.
    func place(_ placement: Placement, on machine: Machine)

    /// Starts the exchange that the timer was prepared for, whose end the timer reports.
    func start()

    /// The number of spins so far that found work before the loop would have slept, or `nil` if the subject never spins.
    var spinHits: Int? { get }

    /// A note that a reader needs to understand the figures so far.
    var remark: String? { get }
}

extension PingPong {
    func place(_ placement: Placement, on machine: Machine) {
        placement.pin(near: nearThreads, far: farThreads, on: machine)
    }

    var spinHits: Int? { nil }

    var remark: String? { nil }
}

/// The wake-up mechanisms that are compared.
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

    /// True if the subject can be measured at a placement.
    ///
    /// Two threads that spin on one processor would wait for the scheduler.
    func isPossible(in placement: Placement) -> Bool { self != .cacheLine || placement == .twoProcessors }

    /// The relation to this package.
    var role: Chart.Role {
        switch self {
        case .raw, .cacheLine: .yardstick
        case .port, .perform, .spinning, .adaptive: .ours
        case .foundation, .dispatch, .nio: .peer
        }
    }
}

extension PingPongSubject {
    /// Starts the threads of this subject.
    func make(timer: RoundTripTimer) throws -> any PingPong {
        switch self {
        case .raw: RawPingPong(timer: timer)
        case .cacheLine: CacheLinePingPong(timer: timer)
        case .port: try RunLoopPingPong(policy: .park, usesPorts: true, timer: timer)
        case .perform: try RunLoopPingPong(policy: .park, usesPorts: false, timer: timer)
        case .spinning:
            // Longer than any answer of another spinning loop, and shorter than the turn of a subject.
            try RunLoopPingPong(policy: .spin(for: .microseconds(50)), usesPorts: true, timer: timer)
        case .adaptive: try RunLoopPingPong(policy: .adaptive, usesPorts: true, timer: timer)
        case .foundation: FoundationPingPong(timer: timer)
        case .dispatch: DispatchPingPong(timer: timer)
        case .nio: NIOPingPong(timer: timer)
        }
    }
}

/// The measuring side of a ping-pong: decides when to send, and records the time of each round trip.
///
/// This code measures all subjects including raw, so that the cost of measuring is the same for all.
final class RoundTripTimer: @unchecked Sendable {
    // Safe because one thread at a time uses the state: the main thread until the start of an exchange, then the thread of the near
    // side until the signal of `isOver`. The start and the signal order the stores of both threads.
    private let state: UnsafeMutablePointer<State>
    private let roundTrips: UnsafeMutablePointer<Int64>
    private let isOver = DispatchSemaphore(value: 0)

    // Behind a pointer, because the exclusivity checks of class properties would lengthen a round trip between two spinning loops.
    private struct State {
        /// The number of recorded round trips, which is negative during the warm-up.
        var count = 0
        var sent: Int64 = 0
        var end: Int64 = 0
        var gap: Int64 = 0
        var length: Int64 = 0
        var failure: String?
    }

    private static let capacity = 1 << 16

    /// The number of unrecorded round trips at the start, while the caches still hold data of the previous subject.
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

    /// The round trips of the last exchange, in nanoseconds.
    var samples: UnsafeBufferPointer<Int64> {
        UnsafeBufferPointer(start: roundTrips, count: max(0, state.pointee.count))
    }

    /// Prepares the next exchange.
    ///
    /// - Parameters:
    ///   - length: The length of the exchange.
    ///   - gap: The minimum time between two pings, or zero to send each ping right after the last answer.
    func prepare(length: Duration, gap: Duration) {
        state.pointee = State(count: -Self.warmUp, gap: gap.nanoseconds, length: length.nanoseconds)
    }

    /// Begins the exchange.
    ///
    /// The thread of the near side calls this, and then sends the first ping.
    func begin() {
        state.pointee.sent = bench_now()
        state.pointee.end = state.pointee.sent + state.pointee.length
    }

    /// Records an answer, and returns true if the caller must send another ping now.
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
        // Spins through the gap. If the thread slept, its processor would go idle, and the figure would include waking the
        // processor.
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

    /// Ends the exchange with an error.
    func fail(_ reason: String) {
        state.pointee.failure = reason
        isOver.signal()
    }

    /// Waits for the end of the exchange, and returns the reason if the exchange has failed.
    func wait() -> String? {
        let hasEnded = isOver.wait(timeout: .now() + .seconds(120)) == .success
        return hasEnded ? state.pointee.failure : "no answer within two minutes"
    }
}
