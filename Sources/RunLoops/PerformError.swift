/// What was waited for on another thread was not done, or not in time.
///
/// What it means for what was asked depends on what that was. A performed block has not started, and never will, unless it is
/// said to have ended its thread. A notification, in the module Notifications, has been posted whatever is thrown: only
/// the wait for its observers is over.
///
/// > Thread safety: a value.
public enum PerformError: Error, Hashable, Sendable {
    /// The deadline passed: before the block had started, or before all observers had been called.
    case timedOut(ErrorOrigin)
    /// The loop's thread ended before it had done what was asked, or in the middle of it: a block can end its thread.
    case loopEnded(ErrorOrigin)
    /// The wait would be for the thread that waits; of a block it is not thrown, for one's own loop runs it at once.
    case wouldDeadlock(ErrorOrigin)
    /// The wait would be in a circle of threads that wait for each other, and none of them would ever go on.
    case circle(WaitCircle)
}

extension PerformError {
    /// ``timedOut(_:)`` without an origin: to compare with, and to throw yourself.
    public static var timedOut: PerformError { .timedOut(.unknown) }

    /// ``loopEnded(_:)`` without an origin: to compare with, and to throw yourself.
    public static var loopEnded: PerformError { .loopEnded(.unknown) }

    /// ``wouldDeadlock(_:)`` without an origin: to compare with, and to throw yourself.
    public static var wouldDeadlock: PerformError { .wouldDeadlock(.unknown) }

    /// This error, with an origin if it has none.
    func about(_ origin: @autoclosure () -> ErrorOrigin) -> PerformError {
        switch self {
        case .timedOut(let known): known.isUnknown ? .timedOut(origin()) : self
        case .loopEnded(let known): known.isUnknown ? .loopEnded(origin()) : self
        case .wouldDeadlock(let known): known.isUnknown ? .wouldDeadlock(origin()) : self
        case .circle: self
        }
    }
}

extension PerformError: CustomStringConvertible {
    /// The origin, if it is known, and the reason, in words.
    public var description: String {
        switch self {
        case .timedOut(let origin):
            origin.describing("the deadline passed before the loop had done what was asked")
        case .loopEnded(let origin):
            origin.describing("the loop's thread ended before it had done what was asked")
        case .wouldDeadlock(let origin): origin.describing("the wait would be for the thread that waits")
        case .circle(let circle): "the wait would never end: \(circle)"
        }
    }
}
