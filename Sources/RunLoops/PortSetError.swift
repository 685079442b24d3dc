/// The reason for which a call of ``PortSet/receive(before:)`` has no result.
///
/// > Thread safety: a value.
public enum PortSetError: Error, Hashable, Sendable {
    /// The deadline passed before a message arrived.
    case timedOut(ErrorOrigin)
    /// The set has no members, or its last member was removed or has ended.
    case noMembers(ErrorOrigin)
}

extension PortSetError {
    /// A ``timedOut(_:)`` error without an origin, to compare with or to throw in your own code.
    public static var timedOut: PortSetError { .timedOut(.unknown) }

    /// A ``noMembers(_:)`` error without an origin, to compare with or to throw in your own code.
    public static var noMembers: PortSetError { .noMembers(.unknown) }

    /// Returns this error, with the given origin if its own origin is unknown.
    func about(_ origin: @autoclosure () -> ErrorOrigin) -> PortSetError {
        switch self {
        case .timedOut(let known): known.isUnknown ? .timedOut(origin()) : self
        case .noMembers(let known): known.isUnknown ? .noMembers(origin()) : self
        }
    }
}

extension PortSetError: CustomStringConvertible {
    /// The reason in words, preceded by the origin if it is known.
    public var description: String {
        switch self {
        case .timedOut(let origin): origin.describing("the deadline passed before a message came")
        case .noMembers(let origin): origin.describing("the set has no members")
        }
    }
}
