/// The reason for which a signal source could not be made.
///
/// > Thread safety: a value.
public enum SignalSourceError: Error, Hashable, Sendable {
    /// Another source of this process, made at this place, owns the signal.
    case taken(signal: CInt, madeAt: String)

    /// Other code of this process has installed a handler for the signal: a C library, or Dispatch for its own signal source.
    case handledElsewhere(signal: CInt)

    /// The kernel has refused a system call, with this error.
    case refused(SystemError)
}

extension SignalSourceError: CustomStringConvertible {
    /// The reason, in words.
    public var description: String {
        switch self {
        case .taken(let signal, let place):
            "\(SignalNumber(signal)) has a source already, made at \(place); a process has one for each signal"
        case .handledElsewhere(let signal):
            "\(SignalNumber(signal)) has a handler of other code, such as a Dispatch source; one of the two must go"
        case .refused(let error): error.description
        }
    }
}
