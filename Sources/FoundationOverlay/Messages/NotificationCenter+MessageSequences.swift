public import Notifications

public import class Notifications.NotificationCenter

/// Asynchronous sequences of messages. Observing begins with the iteration.
extension NotificationCenter {
    /// Returns an asynchronous sequence of messages of a type.
    ///
    /// - Parameters:
    ///   - subject: The object whose messages to observe; nil for messages with any subject, or without one. It is not kept alive.
    ///   - messageType: The type of message.
    ///   - limit: The number of messages, at least 1, that are kept while the task is busy. The oldest ones are dropped.
    /// - Returns: The sequence.
    ///
    /// > Thread safety: any thread.
    public func messages<Message: AsyncMessage>(
        of subject: Message.Subject? = nil, for messageType: Message.Type, bufferSize limit: Int = 10
    ) -> some Sendable & AsyncSequence<Message, Never> where Message.Subject: AnyObject {
        sequence(of: messageType, of: ObjectIdentity.of(subject), bufferingPolicy: .newest(limit))
    }

    /// Returns an asynchronous sequence of messages about an object.
    ///
    /// - Parameters:
    ///   - subject: The object whose messages to observe. It is not kept alive.
    ///   - identifier: The identifier of the type of message.
    ///   - limit: The number of messages, at least 1, that are kept while the task is busy. The oldest ones are dropped.
    /// - Returns: The sequence.
    ///
    /// > Thread safety: any thread.
    public func messages<Identifier: MessageIdentifier, Message: AsyncMessage>(
        of subject: Message.Subject, for identifier: Identifier, bufferSize limit: Int = 10
    ) -> some Sendable & AsyncSequence<Message, Never>
    where Identifier.MessageType == Message, Message.Subject: AnyObject {
        sequence(of: Message.self, of: ObjectIdentity.of(subject), bufferingPolicy: .newest(limit))
    }

    /// Returns an asynchronous sequence of messages about any object, or about none.
    ///
    /// - Parameters:
    ///   - subject: The type of the objects.
    ///   - identifier: The identifier of the type of message.
    ///   - limit: The number of messages, at least 1, that are kept while the task is busy. The oldest ones are dropped.
    /// - Returns: The sequence.
    ///
    /// > Thread safety: any thread.
    public func messages<Identifier: MessageIdentifier, Message: AsyncMessage>(
        of subject: Message.Subject.Type, for identifier: Identifier, bufferSize limit: Int = 10
    ) -> some Sendable & AsyncSequence<Message, Never> where Identifier.MessageType == Message {
        sequence(of: Message.self, of: nil, bufferingPolicy: .newest(limit))
    }
}
