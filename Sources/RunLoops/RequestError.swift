/// A request was not answered.
///
/// > Thread safety: a value.
public enum RequestError: Error, Hashable, Sendable {
    /// The right to reply has gone, and nobody has used it.
    case noReply
    /// The port has ended, and the request with it.
    case invalid
    /// The deadline passed before there was an answer.
    case timedOut
    /// The task that awaited the answer was cancelled.
    case cancelled
    /// The receiver's thread is the one that would wait.
    case wouldDeadlock
    /// The wait would be in a circle of threads that wait for each other, and none of them would ever go on.
    case circle(WaitCircle)
}

extension RequestError: CustomStringConvertible {
    /// The reason, in words.
    public var description: String {
        switch self {
        case .noReply: "the right to reply was destroyed unused"
        case .invalid: "the port has ended"
        case .timedOut: "the deadline passed before there was an answer"
        case .cancelled: "the task was cancelled before there was an answer"
        case .wouldDeadlock: "the receiver's thread is the one that would wait"
        case .circle(let circle): "the wait would never end: \(circle)"
        }
    }
}
