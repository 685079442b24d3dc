public import Notifications

public import class Notifications.NotificationCenter

/// Messages that are posted on any thread, and handled in tasks.
extension NotificationCenter {
    /// Registers a handler for messages of a type.
    ///
    /// Each message is handled in a task of its own, which begins after the post. If the order of messages matters, iterate over
    /// `messages(of:for:bufferSize:)` instead.
    ///
    /// - Parameters:
    ///   - subject: The object whose messages to observe; nil for messages with any subject, or without one.
    ///   - messageType: The type of message.
    ///   - observer: Called with each message.
    /// - Returns: A token. The observation ends when the token is removed or the last reference to it is released. No call
    ///   of the handler begins after that.
    ///
    /// > Thread safety: any thread.
    public func addObserver<Message: AsyncMessage>(
        of subject: Message.Subject? = nil, for messageType: Message.Type,
        using observer: @escaping @Sendable (Message) async -> Void
    ) -> ObservationToken where Message.Subject: AnyObject {
        observeInTasks(subject, observer)
    }

    /// Registers a handler for messages about an object.
    ///
    /// - Parameters:
    ///   - subject: The object whose messages to observe.
    ///   - identifier: The identifier of the type of message.
    ///   - observer: Called with each message, in a task of its own.
    /// - Returns: A token. The observation ends when the token is removed or the last reference to it is released.
    ///
    /// > Thread safety: any thread.
    public func addObserver<Identifier: MessageIdentifier, Message: AsyncMessage>(
        of subject: Message.Subject, for identifier: Identifier,
        using observer: @escaping @Sendable (Message) async -> Void
    ) -> ObservationToken where Identifier.MessageType == Message, Message.Subject: AnyObject {
        observeInTasks(subject, observer)
    }

    /// Registers a handler for messages about any object, or about none.
    ///
    /// - Parameters:
    ///   - subject: The type of the objects.
    ///   - identifier: The identifier of the type of message.
    ///   - observer: Called with each message, in a task of its own.
    /// - Returns: A token. The observation ends when the token is removed or the last reference to it is released.
    ///
    /// > Thread safety: any thread.
    public func addObserver<Identifier: MessageIdentifier, Message: AsyncMessage>(
        of subject: Message.Subject.Type, for identifier: Identifier,
        using observer: @escaping @Sendable (Message) async -> Void
    ) -> ObservationToken where Identifier.MessageType == Message {
        observeInTasks(nil, observer)
    }

    /// Starts the tasks of the observers of messages of this type, and gives the message to the sequences that observe it.
    ///
    /// - Parameters:
    ///   - message: The message.
    ///   - subject: The object that the message is about.
    ///
    /// > Thread safety: any thread.
    public func post<Message: AsyncMessage>(_ message: Message, subject: Message.Subject)
    where Message.Subject: AnyObject { post(message: message, of: ObjectIdentity.of(subject)) }

    /// Starts the tasks of the observers of messages of this type that observe any object, and gives the message to such sequences.
    ///
    /// - Parameter message: The message.
    ///
    /// > Thread safety: any thread.
    public func post<Message: AsyncMessage>(_ message: Message) { post(message: message, of: nil) }

    private func observeInTasks<Message: AsyncMessage>(
        _ subject: AnyObject?, _ observer: @escaping @Sendable (Message) async -> Void
    ) -> ObservationToken {
        let observation = TaskObservation()
        let token = observe(Message.self, of: ObjectIdentity.of(subject)) { (message: Message) in
            Task { if !observation.hasEnded { await observer(message) } }
        }
        observation.begin(token)
        return token
    }
}
