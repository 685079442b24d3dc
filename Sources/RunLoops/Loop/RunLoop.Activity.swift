extension RunLoop {
    /// The moments of a loop's run at which observers are called.
    ///
    /// The bits are the same as in Core Foundation. <doc:OnePass> lists the steps between the moments.
    ///
    /// > Thread safety: a value.
    public struct Activity: OptionSet, Hashable, Sendable {
        /// The bits.
        public let rawValue: UInt

        /// Makes a set of moments from its bits.
        ///
        /// - Parameter rawValue: The bits.
        public init(rawValue: UInt) { self.rawValue = rawValue }

        /// A run begins, before its first pass.
        public static let entry = Activity(rawValue: 1)
        /// A pass begins.
        public static let beforeTimers = Activity(rawValue: 2)
        /// A pass is about to perform blocks and to call signalled manual sources.
        public static let beforeSources = Activity(rawValue: 4)
        /// The loop found no work and is about to sleep.
        public static let beforeWaiting = Activity(rawValue: 32)
        /// The loop has slept, and has not yet served the input that woke it.
        public static let afterWaiting = Activity(rawValue: 64)
        /// A run ends, after its last pass.
        public static let exit = Activity(rawValue: 128)
        /// Every moment, including moments that a later version adds.
        public static let all = Activity(rawValue: 0x0FFF_FFFF)
    }
}

extension RunLoop.Activity: CustomStringConvertible {
    /// The names of the moments, as in `[beforeWaiting, exit]`.
    public var description: String {
        if self == .all { return "[all]" }
        return words([
            "entry": .entry, "beforeTimers": .beforeTimers, "beforeSources": .beforeSources,
            "beforeWaiting": .beforeWaiting, "afterWaiting": .afterWaiting, "exit": .exit,
        ])
    }
}
