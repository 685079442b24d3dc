public import Notifications

public import class Notifications.NotificationCenter

/// Messages that are posted, and handled, on the main actor.
extension NotificationCenter {
    /// Registers a handler for messages of a type.
    ///
    /// - Parameters:
    ///   - subject: The object whose messages to observe; nil for messages with any subject, or without one.
    ///   - messageType: The type of message.
    ///   - observer: Called with each message, before its post returns.
    /// - Returns: A token. The observation ends when the token is removed or the last reference to it is released.
    ///
    /// > Thread safety: any thread.
    public func addObserver<Message: MainActorMessage>(
        of subject: Message.Subject? = nil, for messageType: Message.Type,
        using observer: @escaping @MainActor (Message) -> Void
    ) -> ObservationToken where Message.Subject: AnyObject {
        observeOnMainActor(subject, observer)
    }

    /// Registers a handler for messages about an object.
    ///
    /// - Parameters:
    ///   - subject: The object whose messages to observe.
    ///   - identifier: The identifier of the type of message.
    ///   - observer: Called with each message, before its post returns.
    /// - Returns: A token. The observation ends when the token is removed or the last reference to it is released.
    ///
    /// > Thread safety: any thread.
    public func addObserver<Identifier: MessageIdentifier, Message: MainActorMessage>(
        of subject: Message.Subject, for identifier: Identifier,
        using observer: @escaping @MainActor (Message) -> Void
    ) -> ObservationToken where Identifier.MessageType == Message, Message.Subject: AnyObject {
        observeOnMainActor(subject, observer)
    }

    /// Registers a handler for messages about any object, or about none.
    ///
    /// - Parameters:
    ///   - subject: The type of the objects.
    ///   - identifier: The identifier of the type of message.
    ///   - observer: Called with each message, before its post returns.
    /// - Returns: A token. The observation ends when the token is removed or the last reference to it is released.
    ///
    /// > Thread safety: any thread.
    public func addObserver<Identifier: MessageIdentifier, Message: MainActorMessage>(
        of subject: Message.Subject.Type, for identifier: Identifier,
        using observer: @escaping @MainActor (Message) -> Void
    ) -> ObservationToken where Identifier.MessageType == Message {
        observeOnMainActor(nil, observer)
    }

    /// Calls the observers of messages of this type, and returns when the last one has returned.
    ///
    /// - Parameters:
    ///   - message: The message.
    ///   - subject: The object that the message is about.
    @MainActor
    public func post<Message: MainActorMessage>(_ message: Message, subject: Message.Subject)
    where Message.Subject: AnyObject { post(message: message, of: ObjectIdentity.of(subject)) }

    /// Calls the observers of messages of this type that observe any object, and returns when the last one has returned.
    ///
    /// - Parameter message: The message.
    @MainActor
    public func post<Message: MainActorMessage>(_ message: Message) { post(message: message, of: nil) }

    private func observeOnMainActor<Message: MainActorMessage>(
        _ subject: AnyObject?, _ observer: @escaping @MainActor (Message) -> Void
    ) -> ObservationToken {
        observe(Message.self, of: ObjectIdentity.of(subject)) { message in
            // Safe: such messages are posted on the main actor only, so the message stays on its actor.
            nonisolated(unsafe) let message = message
            MainActor.assumeIsolated { unsafe observer(message) }
        }
    }
}
