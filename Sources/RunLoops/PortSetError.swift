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
    /// ``timedOut(_:)`` without an origin, for comparisons and for code of yours that throws this error.
    public static var timedOut: PortSetError { .timedOut(.unknown) }

    /// ``noMembers(_:)`` without an origin, for comparisons and for code of yours that throws this error.
    public static var noMembers: PortSetError { .noMembers(.unknown) }

    /// Returns this error, with the given origin if it has none.
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
