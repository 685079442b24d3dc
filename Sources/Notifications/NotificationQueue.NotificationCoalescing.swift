internal import RunLoops

extension NotificationQueue {
    /// The properties that two notifications must have in common to match.
    ///
    /// The bits are Foundation's.
    ///
    /// > Thread safety: a value.
    public struct NotificationCoalescing: OptionSet, Hashable, Sendable {
        /// The bits.
        public let rawValue: UInt
        /// Makes a mask from its bits.
        ///
        /// - Parameter rawValue: The bits.
        public init(rawValue: UInt) { self.rawValue = rawValue }
        /// The name.
        public static let onName = NotificationCoalescing(rawValue: 1)
        /// The sender.
        ///
        /// Two notifications without a sender have that in common.
        public static let onSender = NotificationCoalescing(rawValue: 2)
    }

    /// The notification that is posted when several match.
    ///
    /// > Thread safety: a value.
    public enum Survivor: Sendable {
        /// The notification that already waits, in its place, with its style and modes; those of the new one are ignored.
        case first
        /// The new notification, last in line, with its own style and modes. All matching notifications that wait are taken
        /// out.
        case latest
        /// A notification made from the matching one that has waited longest and the new one, in the place of the former.
        ///
        /// - Precondition: The merged notification has the name and the sender of the old one.
        case merge(@Sendable (_ old: Notification, _ new: Notification) -> Notification)
    }
}

extension NotificationQueue.NotificationCoalescing: CustomStringConvertible {
    /// The names of the members, as in `[onName]`.
    public var description: String { words(["onName": .onName, "onSender": .onSender]) }
}
