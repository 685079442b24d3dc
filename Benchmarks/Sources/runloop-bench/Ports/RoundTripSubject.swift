internal import RunLoops

/// The ways of sending something to another thread of the process and having something back.
enum RoundTripSubject: String, TripSubject {
    case raw = "raw eventfd + epoll (C), twice"
    case messages = "a message each way, two loops"
    case sets = "a message each way, two port sets"
    case asking = "request, from a loop's thread"
    case askingPlain = "request, from a plain thread"
    case awaiting = "request, awaited by an actor on a loop"
    case awaitingPool = "request, awaited on the default executor"

    /// Whether it can be measured there: the default executor's threads cannot be told where to be.
    func isPossible(in placement: Placement) -> Bool { self != .awaitingPool || placement == .unpinned }

    /// Ours or the yardstick.
    var role: Chart.Role { self == .raw ? .yardstick : .ours }

    /// Starts this subject's threads.
    func make(rally: Rally) throws -> any PingPong {
        switch self {
        case .raw: RawPingPong(rally: rally)
        case .messages: try RunLoopPingPong(policy: .park, usesPorts: true, rally: rally)
        case .sets: PortSetPingPong(rally: rally)
        case .asking: try RequestPingPong(from: .loop, rally: rally)
        case .askingPlain: try RequestPingPong(from: .plainThread, rally: rally)
        case .awaiting: try RequestPingPong(from: .actor, rally: rally)
        case .awaitingPool: try RequestPingPong(from: .pool, rally: rally)
        }
    }
}
