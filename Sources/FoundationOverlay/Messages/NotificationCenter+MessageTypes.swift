public import Notifications

public import class Notifications.NotificationCenter

/// The types of Foundation's messages: events with a type of their own, instead of a name and facts.
///
/// As in Foundation on Linux, messages and notifications are separate: an observer of a name gets no message.
extension NotificationCenter {
    /// A message that is posted, and handled, on the main actor.
    public protocol MainActorMessage: SendableMetatype {
        /// The type of object that a message is about, usually its sender.
        associatedtype Subject
    }

    /// A message that is posted on any thread, and handled in a task.
    public protocol AsyncMessage: Sendable {
        /// The type of object that a message is about, usually its sender.
        associatedtype Subject
    }

    /// A name for a type of message, such as `.didSave`, that is found through its type.
    public protocol MessageIdentifier {
        /// The type of message.
        associatedtype MessageType
    }

    /// The identifier of a type of message, for an extension of `MessageIdentifier` that gives it a name.
    ///
    /// > Thread safety: a value.
    public struct BaseMessageIdentifier<MessageType>: MessageIdentifier, Sendable {
        /// Makes the identifier of a type of message for the main actor.
        public init() where MessageType: MainActorMessage {}

        /// Makes the identifier of a type of message for tasks.
        public init() where MessageType: AsyncMessage {}
    }

    /// The token of an observation, which ends when the last reference to the token is released.
    public typealias ObservationToken = Notifications.ObservationToken
}
