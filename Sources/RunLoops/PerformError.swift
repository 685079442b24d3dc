/// What was waited for on another thread was not done.
///
/// > Thread safety: a value.
public enum PerformError: Error, Hashable, Sendable {
    /// The deadline passed before the block had started; it does not start any more.
    case timedOut
    /// The loop's thread ended before the block had started, or the block has ended it.
    case loopEnded
    /// The wait would be for the thread that waits.
    case wouldDeadlock
    /// The wait would be in a circle of threads that wait for each other, and none of them would ever go on.
    ///
    /// The block has not started, and does not start any more.
    case circle(WaitCircle)
}

extension PerformError: CustomStringConvertible {
    /// The reason, in words.
    public var description: String {
        switch self {
        case .timedOut: "the deadline passed before the loop had started the block"
        case .loopEnded: "the loop's thread ended before it was done with the block"
        case .wouldDeadlock: "the wait would be for the thread that waits"
        case .circle(let circle): "the wait would never end: \(circle)"
        }
    }
}
