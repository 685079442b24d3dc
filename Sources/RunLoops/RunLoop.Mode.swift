extension RunLoop {
    /// The name of a set of inputs.
    ///
    /// A loop runs in one mode at a time and serves only what was added to that mode; what belongs to
    /// other modes waits, and is not lost. A mode exists as soon as it is mentioned.
    ///
    /// ```swift
    /// extension RunLoop.Mode { static let handshake = RunLoop.Mode("com.example.handshake") }
    /// ```
    ///
    /// > Thread safety: a value.
    public struct Mode: RawRepresentable, Hashable, Sendable {
        /// The name.
        ///
        /// The two constants have the names that Foundation gives them.
        public let rawValue: String

        /// Makes the mode of this name.
        ///
        /// - Parameter rawValue: The name. Two modes of one name are the same mode.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// Makes the mode of this name.
        ///
        /// - Parameter rawValue: The name. Two modes of one name are the same mode.
        public init(_ rawValue: String) { self.rawValue = rawValue }

        /// The mode that a loop runs in where none is named.
        public static let `default` = Mode("kCFRunLoopDefaultMode")

        /// Not a mode but a set of modes, one set per loop: at first ``default`` alone.
        ///
        /// What is added to it is in every mode of the set, and in those that join the set later with
        /// ``RunLoop/addCommonMode(_:)``. A loop cannot run in it.
        public static let common = Mode("kCFRunLoopCommonModes")
    }
}

extension RunLoop.Mode: CustomStringConvertible {
    /// The mode's name.
    public var description: String { rawValue }
}
