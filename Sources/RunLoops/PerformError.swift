/// The reason for which a wait for another thread's loop ended without a result.
///
/// If you waited for a block, the block has not started and will not start. The exception is ``loopEnded(_:)``: the block can
/// have started, and can itself have ended the thread. If you waited for the observers of a notification of the module
/// Notifications, every error means that the notification has been posted, and that only the wait has ended early.
///
/// > Thread safety: a value.
public enum PerformError: Error, Hashable, Sendable {
    /// The deadline passed before the block had started, or before all observers had been called.
    case timedOut(ErrorOrigin)
    /// The loop's thread ended before the block or the observers had returned.
    ///
    /// It is possible that the block itself has ended the thread.
    case loopEnded(ErrorOrigin)
    /// The calling thread would wait for itself.
    ///
    /// A wait for a block does not throw this error, because a thread's own loop runs the block at once.
    case wouldDeadlock(ErrorOrigin)
    /// The wait would be part of a circle of threads that wait for each other for ever.
    case circle(WaitCircle)
}

extension PerformError {
    /// A ``timedOut(_:)`` error without an origin, to compare with or to throw in your own code.
    public static var timedOut: PerformError { .timedOut(.unknown) }

    /// A ``loopEnded(_:)`` error without an origin, to compare with or to throw in your own code.
    public static var loopEnded: PerformError { .loopEnded(.unknown) }

    /// A ``wouldDeadlock(_:)`` error without an origin, to compare with or to throw in your own code.
    public static var wouldDeadlock: PerformError { .wouldDeadlock(.unknown) }

    /// Returns this error if its origin is known, or else the same error with the given origin.
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
