/// The reason for which a call of ``PortSet/receive(before:)`` has no result.
///
/// Errors that differ only in the set that they are about are equal.
///
/// > Thread safety: a value.
public struct PortSetError: Error, Hashable, Sendable {
    /// The kind of the error.
    public let reason: Reason

    package var origin = ErrorOrigin.unknown

    /// Makes an error, for tests and for code that stands in for a set.
    ///
    /// - Parameter reason: The kind of the error.
    public init(_ reason: Reason) { self.reason = reason }

    /// The kinds of errors of a set.
    ///
    /// > Thread safety: a value.
    public struct Reason: Hashable, Sendable {
        private enum Kind { case timedOut, noMembers }

        private let kind: Kind

        /// The deadline passed before a message arrived.
        public static let timedOut = Reason(kind: .timedOut)
        /// The set has no members, or its last member was removed or has ended.
        public static let noMembers = Reason(kind: .noMembers)

        /// Returns true if an error is a ``PortSetError`` with a reason; for `catch` clauses.
        ///
        /// - Parameters:
        ///   - reason: The reason.
        ///   - error: The error.
        /// - Returns: True if the error has the reason.
        public static func ~= (reason: Reason, error: any Error) -> Bool {
            (error as? PortSetError)?.reason == reason
        }
    }
}

extension PortSetError.Reason: CustomStringConvertible {
    /// The reason in words.
    public var description: String {
        switch kind {
        case .timedOut: "the deadline passed before a message came"
        case .noMembers: "the set has no members"
        }
    }
}

extension PortSetError: ErrorWithOrigin, CustomStringConvertible {
    /// The reason in words, preceded by the origin if it is known.
    public var description: String { origin.describing("\(reason)") }
}
