internal import RunLoops

extension NotificationQueue {
    /// The properties that two notifications must have in common to match.
    ///
    /// The bits have the same values as in Foundation.
    ///
    /// > Thread safety: a value.
    public struct NotificationCoalescing: OptionSet, Hashable, Sendable {
        /// The bits of the options in the mask.
        public let rawValue: UInt
        /// Makes a mask from its bits.
        ///
        /// - Parameter rawValue: The bits of the options in the mask.
        public init(rawValue: UInt) { self.rawValue = rawValue }
        /// The name: two notifications match only if they have the same name.
        public static let onName = NotificationCoalescing(rawValue: 1)
        /// The sender: two notifications match only if they have the same sender.
        ///
        /// Two notifications without a sender count as having the same sender.
        public static let onSender = NotificationCoalescing(rawValue: 2)
    }

    /// The rule that selects the notification to post when several match.
    ///
    /// > Thread safety: a value.
    @nonexhaustive
    public enum Survivor: Sendable {
        /// The notification that already waits; it keeps its place in the queue, its style and its modes.
        ///
        /// The new notification is ignored.
        case first
        /// The new notification, enqueued last with its own style and modes.
        ///
        /// All matching notifications that wait are removed.
        case latest
        /// A notification that the closure makes from the oldest matching notification and the new one.
        ///
        /// The merged notification takes the place of the old one.
        ///
        /// - Precondition: The merged notification has the name and the sender of the old one.
        case merge(@Sendable (_ old: Notification, _ new: Notification) -> Notification)
    }
}

extension NotificationQueue.NotificationCoalescing: CustomStringConvertible {
    /// The names of the options in the mask, as in `[onName]`.
    public var description: String { words(["onName": .onName, "onSender": .onSender]) }
}
