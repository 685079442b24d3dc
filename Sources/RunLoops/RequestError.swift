/// The reason for which a request has no answer.
///
/// > Thread safety: a value.
public enum RequestError: Error, Hashable, Sendable {
    /// The right to reply was destroyed unused.
    ///
    /// It is possible that the receiver has served the request nevertheless.
    case noReply(ErrorOrigin)
    /// The port has ended, and the right to reply was destroyed unused.
    ///
    /// Usually the request was still in the queue. But it is possible that the receiver has served the request.
    case invalid(ErrorOrigin)
    /// The deadline passed before there was an answer.
    ///
    /// It is possible that the receiver has served the request, or will still serve it. So retry only requests that can safely be
    /// served twice.
    case timedOut(ErrorOrigin)
    /// The task that awaited the answer was cancelled.
    ///
    /// It is possible that the receiver has served the request, or will still serve it. So retry only requests that can safely be
    /// served twice.
    case cancelled(ErrorOrigin)
    /// The calling thread is the receiver's own thread, so waiting would deadlock; nothing was sent.
    case wouldDeadlock(ErrorOrigin)
    /// The wait would be part of a circle of threads that wait for each other for ever.
    ///
    /// If another thread closed the circle after the request was sent, the request can still be served.
    case circle(WaitCircle)
}

extension RequestError {
    /// A ``noReply(_:)`` error without an origin, to compare with or to throw in your own code.
    public static var noReply: RequestError { .noReply(.unknown) }

    /// An ``invalid(_:)`` error without an origin, to compare with or to throw in your own code.
    public static var invalid: RequestError { .invalid(.unknown) }

    /// A ``timedOut(_:)`` error without an origin, to compare with or to throw in your own code.
    public static var timedOut: RequestError { .timedOut(.unknown) }

    /// A ``cancelled(_:)`` error without an origin, to compare with or to throw in your own code.
    public static var cancelled: RequestError { .cancelled(.unknown) }

    /// A ``wouldDeadlock(_:)`` error without an origin, to compare with or to throw in your own code.
    public static var wouldDeadlock: RequestError { .wouldDeadlock(.unknown) }

    /// Returns this error, with the given origin if its own origin is unknown.
    func about(_ origin: @autoclosure () -> ErrorOrigin) -> RequestError {
        switch self {
        case .noReply(let known): known.isUnknown ? .noReply(origin()) : self
        case .invalid(let known): known.isUnknown ? .invalid(origin()) : self
        case .timedOut(let known): known.isUnknown ? .timedOut(origin()) : self
        case .cancelled(let known): known.isUnknown ? .cancelled(origin()) : self
        case .wouldDeadlock(let known): known.isUnknown ? .wouldDeadlock(origin()) : self
        case .circle: self
        }
    }
}

extension RequestError: CustomStringConvertible {
    /// The origin, if it is known, and the reason, in words.
    public var description: String {
        switch self {
        case .noReply(let origin): origin.describing("the right to reply was destroyed unused")
        case .invalid(let origin): origin.describing("the port has ended")
        case .timedOut(let origin): origin.describing("the deadline passed before there was an answer")
        case .cancelled(let origin): origin.describing("the task was cancelled before there was an answer")
        case .wouldDeadlock(let origin): origin.describing("the receiver's thread is the one that would wait")
        case .circle(let circle): "the wait would never end: \(circle)"
        }
    }
}
