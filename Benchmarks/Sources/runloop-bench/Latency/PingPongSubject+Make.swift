internal import RunLoops

extension PingPongSubject {
    /// Starts this subject's threads.
    func make(rally: Rally) throws -> any PingPong {
        switch self {
        case .raw: RawPingPong(rally: rally)
        case .cacheLine: CacheLinePingPong(rally: rally)
        case .port: try RunLoopPingPong(policy: .park, usesPorts: true, rally: rally)
        case .perform: try RunLoopPingPong(policy: .park, usesPorts: false, rally: rally)
        case .spinning:
            // Longer than any answer of a loop that spins too, shorter than a subject's turn.
            try RunLoopPingPong(policy: .spin(for: .microseconds(50)), usesPorts: true, rally: rally)
        case .adaptive: try RunLoopPingPong(policy: .adaptive, usesPorts: true, rally: rally)
        case .foundation: FoundationPingPong(rally: rally)
        case .dispatch: DispatchPingPong(rally: rally)
        case .nio: NIOPingPong(rally: rally)
        }
    }
}
