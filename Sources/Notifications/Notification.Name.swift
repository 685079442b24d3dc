extension Notification {
    /// The name of an event.
    ///
    /// ```swift
    /// extension Notification.Name { static let didConnect = Notification.Name("com.example.didConnect") }
    /// ```
    ///
    /// > Thread safety: a value.
    public struct Name: RawRepresentable, Hashable, Sendable {
        /// The name as a string.
        public let rawValue: String

        /// The hash of ``rawValue``.
        ///
        /// It is computed once and stored, because every post needs it to look up the name of the notification.
        let shardHash: Int

        /// Makes a name.
        ///
        /// Keep names in constants, because hashing a long name takes time.
        ///
        /// - Parameter rawValue: The name as a string.
        public init(rawValue: String) {
            self.rawValue = rawValue
            shardHash = rawValue.hashValue
        }

        /// Makes a name.
        ///
        /// - Parameter rawValue: The name as a string.
        public init(_ rawValue: String) { self.init(rawValue: rawValue) }

        /// Compares two names.
        ///
        /// - Parameters:
        ///   - left: A name.
        ///   - right: Another name.
        /// - Returns: True if both are the same string.
        public static func == (left: Name, right: Name) -> Bool {
            left.shardHash == right.shardHash && left.rawValue == right.rawValue
        }

        /// Hashes the name.
        ///
        /// - Parameter hasher: The hasher.
        public func hash(into hasher: inout Hasher) { hasher.combine(shardHash) }
    }
}

extension Notification.Name: CustomStringConvertible {
    /// The name as a string.
    public var description: String { rawValue }
}
