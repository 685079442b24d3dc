/// The reason for which a signal source could not be made.
///
/// > Thread safety: a value.
public struct SignalSourceError: Error, Hashable, Sendable {
    /// The kind of the error.
    public let reason: Reason

    /// The number of the signal.
    public let signal: CInt

    /// The place in the code where the source that owns the signal was made; nil unless the reason is ``Reason/taken``.
    public let ownerPlace: String?

    /// The error of the system call; nil unless the reason is ``Reason/refused``.
    public let systemError: SystemError?

    /// Makes an error, for tests.
    ///
    /// - Parameters:
    ///   - reason: The kind of the error.
    ///   - signal: The number of the signal.
    ///   - ownerPlace: The place where the source that owns the signal was made.
    ///   - systemError: The error of the system call.
    public init(_ reason: Reason, signal: CInt, ownerPlace: String? = nil, systemError: SystemError? = nil) {
        self.reason = reason
        self.signal = signal
        self.ownerPlace = ownerPlace
        self.systemError = systemError
    }

    /// The kinds of errors of a signal source.
    ///
    /// > Thread safety: a value.
    public struct Reason: Hashable, Sendable {
        private enum Kind: String {
            case taken = "a process has one source for each signal"
            case handledElsewhere = "other code, such as a Dispatch source, handles the signal"
            case refused = "the kernel has refused a call"
        }

        private let kind: Kind

        /// Another source of this process, made at ``SignalSourceError/ownerPlace``, owns the signal.
        public static let taken = Reason(kind: .taken)
        /// Other code of this process has installed a handler for the signal: a C library, or Dispatch for its own signal source.
        public static let handledElsewhere = Reason(kind: .handledElsewhere)
        /// The kernel has refused a system call, with ``SignalSourceError/systemError``.
        public static let refused = Reason(kind: .refused)

        /// Returns true if an error is a ``SignalSourceError`` with a reason; for `catch` clauses.
        ///
        /// - Parameters:
        ///   - reason: The reason.
        ///   - error: The error.
        /// - Returns: True if the error has the reason.
        public static func ~= (reason: Reason, error: any Error) -> Bool {
            (error as? SignalSourceError)?.reason == reason
        }
    }
}

extension SignalSourceError.Reason: CustomStringConvertible {
    /// The reason in words.
    public var description: String { kind.rawValue }
}

extension SignalSourceError: CustomStringConvertible {
    /// The signal and the reason, in words.
    public var description: String {
        let name = SignalNumber(signal)
        if let systemError { return "\(name): \(systemError)" }
        if let ownerPlace {
            return "\(name) has a source already, made at \(ownerPlace); a process has one for each signal"
        }
        if reason == .handledElsewhere {
            return "\(name) has a handler of other code, such as a Dispatch source; one of the two must go"
        }
        return "\(name): \(reason)"
    }
}
