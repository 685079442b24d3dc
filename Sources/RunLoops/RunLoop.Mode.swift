extension RunLoop {
    /// The name of a set of a loop's inputs, such as timers, sources and ports.
    ///
    /// A loop runs in one mode at a time, and serves only the inputs that were added to that mode. Inputs of other modes wait, and
    /// lose no event. A mode exists as soon as you use its name.
    ///
    /// ```swift
    /// extension RunLoop.Mode { static let handshake = RunLoop.Mode("com.example.handshake") }
    /// ```
    ///
    /// > Thread safety: a value.
    public struct Mode: RawRepresentable, Hashable, Sendable {
        /// The name.
        ///
        /// The names of ``default`` and ``common`` are the same as in Foundation.
        public let rawValue: String

        /// Makes the mode with a name.
        ///
        /// - Parameter rawValue: The name. Two modes with the same name are the same mode.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// Makes the mode with a name.
        ///
        /// - Parameter rawValue: The name. Two modes with the same name are the same mode.
        public init(_ rawValue: String) { self.rawValue = rawValue }

        /// The mode that a loop runs in if you pass no mode.
        public static let `default` = Mode("kCFRunLoopDefaultMode")

        /// The set of a loop's common modes, which initially contains only ``default``.
        ///
        /// Each loop has its own set. An input that is added to the set is in every mode of the set, and in every mode that joins
        /// the set later with ``RunLoop/addCommonMode(_:)``. The set is not a mode: a loop cannot run in it.
        public static let common = Mode("kCFRunLoopCommonModes")
    }
}

extension RunLoop.Mode: CustomStringConvertible {
    /// The mode's name.
    public var description: String { rawValue }
}
