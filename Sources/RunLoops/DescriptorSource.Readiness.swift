extension DescriptorSource {
    /// What a descriptor is watched for.
    ///
    /// > Thread safety: a value.
    public struct Interest: OptionSet, Hashable, Sendable {
        /// The bits.
        public let rawValue: UInt8
        /// Makes an interest from its bits.
        ///
        /// - Parameter rawValue: The bits.
        public init(rawValue: UInt8) { self.rawValue = rawValue }
        /// Something can be read, or a connection accepted.
        public static let read = Interest(rawValue: 1)
        /// Something can be written, or a connection has been made.
        public static let write = Interest(rawValue: 2)
    }

    /// What a descriptor is ready for.
    ///
    /// > Thread safety: a value.
    public struct Readiness: OptionSet, Hashable, Sendable {
        /// The bits.
        public let rawValue: UInt8
        /// Makes a readiness from its bits.
        ///
        /// - Parameter rawValue: The bits.
        public init(rawValue: UInt8) { self.rawValue = rawValue }
        /// Reading does not block.
        public static let readable = Readiness(rawValue: 1)
        /// Writing does not block.
        public static let writable = Readiness(rawValue: 2)
        /// The other end has closed, or has ended writing.
        ///
        /// Read until the end if anything may be left.
        public static let hangUp = Readiness(rawValue: 4)
        /// An error waits; reading or writing, or `SO_ERROR`, tells which.
        public static let error = Readiness(rawValue: 8)
    }

    /// When a source's handler is called.
    ///
    /// > Thread safety: a value.
    public enum Trigger: Hashable, Sendable {
        /// In each pass in which the descriptor is ready.
        case level
        /// When the descriptor has become ready anew, or the source is watched again after a run in a mode without it.
        case edge
    }
}

extension DescriptorSource.Interest: CustomStringConvertible {
    /// The names of the members, as in `[read, write]`.
    public var description: String { words(["read": .read, "write": .write]) }
}

extension DescriptorSource.Readiness: CustomStringConvertible {
    /// The names of the members, as in `[readable, hangUp]`.
    public var description: String {
        words(["readable": .readable, "writable": .writable, "hangUp": .hangUp, "error": .error])
    }
}
