/// A request was not answered.
///
/// > Thread safety: a value.
public enum RequestError: Error, Hashable, Sendable {
    /// The right to reply has gone, and nobody has used it.
    ///
    /// The receiver may have served the request all the same.
    case noReply
    /// The port has ended, and nobody has used the right to reply.
    ///
    /// As a rule the request was still in the queue; a receiver that had it may have served it.
    case invalid
    /// The deadline passed before there was an answer.
    ///
    /// You cannot tell from this whether the request was served, or will be: retry only what may be done twice.
    case timedOut
    /// The task that awaited the answer was cancelled.
    ///
    /// You cannot tell from this whether the request was served, or will be: retry only what may be done twice.
    case cancelled
    /// The receiver's thread is the one that would wait: nothing was sent.
    case wouldDeadlock
    /// The wait would be in a circle of threads that wait for each other, and none of them would ever go on.
    ///
    /// If another thread has closed the circle later, the request was sent, and may be served.
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
