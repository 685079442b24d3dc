/// The reason for which a flight recorder could not be made.
///
/// > Thread safety: a value.
public struct FlightRecorderError: Error, Hashable, Sendable {
    /// The kind of the error.
    public let reason: Reason

    /// Makes an error, for tests.
    ///
    /// - Parameter reason: The kind of the error.
    public init(_ reason: Reason) { self.reason = reason }

    /// The kinds of errors of a recorder.
    ///
    /// > Thread safety: a value.
    public struct Reason: Hashable, Sendable {
        private enum Kind: String {
            case isRecordedAlready =
                "the process has a flight recorder already; use it, or stop it before you make another one"
        }

        private let kind: Kind

        /// The process has another recorder that has not been stopped.
        public static let isRecordedAlready = Reason(kind: .isRecordedAlready)

        /// Returns true if an error is a ``FlightRecorderError`` with a reason; for `catch` clauses.
        ///
        /// - Parameters:
        ///   - reason: The reason.
        ///   - error: The error.
        /// - Returns: True if the error has the reason.
        public static func ~= (reason: Reason, error: any Error) -> Bool {
            (error as? FlightRecorderError)?.reason == reason
        }
    }
}

extension FlightRecorderError.Reason: CustomStringConvertible {
    /// The reason in words, with advice on what to do instead.
    public var description: String { kind.rawValue }
}

extension FlightRecorderError: CustomStringConvertible {
    /// The error in words, with advice on what to do instead.
    public var description: String { "\(reason)" }
}
