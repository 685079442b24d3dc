/// What was waited for on another thread was not done, or not in time.
///
/// What it means for what was asked depends on what that was. A performed block has not started, and never will, unless it is
/// said to have ended its thread. A notification, in the module Notifications, has been posted whatever is thrown: only
/// the wait for its observers is over.
///
/// > Thread safety: a value.
public enum PerformError: Error, Hashable, Sendable {
    /// The deadline passed: before the block had started, or before all observers had been called.
    case timedOut
    /// The loop's thread ended before it had done what was asked, or in the middle of it: a block can end its thread.
    case loopEnded
    /// The wait would be for the thread that waits; of a block it is not thrown, for one's own loop runs it at once.
    case wouldDeadlock
    /// The wait would be in a circle of threads that wait for each other, and none of them would ever go on.
    case circle(WaitCircle)
}

extension PerformError: CustomStringConvertible {
    /// The reason, in words.
    public var description: String {
        switch self {
        case .timedOut: "the deadline passed before the loop had done what was asked"
        case .loopEnded: "the loop's thread ended before it had done what was asked"
        case .wouldDeadlock: "the wait would be for the thread that waits"
        case .circle(let circle): "the wait would never end: \(circle)"
        }
    }
}
