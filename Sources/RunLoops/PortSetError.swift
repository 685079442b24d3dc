/// A port set has nothing to give.
///
/// > Thread safety: a value.
public enum PortSetError: Error, Hashable, Sendable {
    /// The deadline passed before a message came.
    case timedOut
    /// The set has no members, or has none any more.
    case noMembers
}

extension PortSetError: CustomStringConvertible {
    /// The reason, in words.
    public var description: String {
        switch self {
        case .timedOut: "the deadline passed before a message came"
        case .noMembers: "the set has no members"
        }
    }
}
