extension DescriptorSource {
    /// The events that a source watches a descriptor for.
    ///
    /// > Thread safety: a value.
    public struct Interest: OptionSet, Hashable, Sendable {
        /// The bits.
        public let rawValue: UInt8
        /// Makes an interest from its bits.
        ///
        /// - Parameter rawValue: The bits.
        public init(rawValue: UInt8) { self.rawValue = rawValue }
        /// Bytes can be read, or a connection can be accepted.
        public static let read = Interest(rawValue: 1)
        /// Bytes can be written, or a connection has been made or has failed.
        public static let write = Interest(rawValue: 2)
    }

    /// The operations that a descriptor is ready for.
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
        /// The peer has closed its end, or has ended writing.
        ///
        /// Bytes that the peer sent before can still be unread: read until the end of the stream.
        public static let hangUp = Readiness(rawValue: 4)
        /// An error is pending; reading, writing or the option `SO_ERROR` returns it.
        public static let error = Readiness(rawValue: 8)
    }

    /// The condition on which a source's handler is called.
    ///
    /// > Thread safety: a value.
    public enum Trigger: Hashable, Sendable {
        /// The handler is called in each pass of the loop in which the descriptor is ready.
        case level
        /// The handler is called when the kernel reports new readiness.
        ///
        /// The loop does not watch the descriptor while it runs in a mode without the source. When the loop begins to watch the
        /// descriptor again, the present readiness is reported once more.
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
