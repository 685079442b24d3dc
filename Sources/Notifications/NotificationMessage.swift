/// An event with a type of its own: a sender posts a value of this type instead of a name and a dictionary.
///
/// ```swift
/// struct PriceChanged: NotificationMessage {
///     typealias Subject = Feed
///     let price: Int
/// }
/// let token = center.addObserver(of: feed, for: PriceChanged.self) { message in show(message.price) }
/// center.post(PriceChanged(price: 7), subject: feed)
/// ```
///
/// Messages and notifications are separate: an observer of a name, or of every name, receives no message. A message is
/// identified by its type alone.
public protocol NotificationMessage: Sendable {
    /// The type of object that a message is about, usually its sender.
    associatedtype Subject: AnyObject & Sendable
}

extension NotificationCenter {
    /// Calls the observers of messages of this type, and returns when the last one has returned.
    ///
    /// Observers are called in the order in which they were registered, as for ``post(_:)``.
    ///
    /// - Parameters:
    ///   - message: The message.
    ///   - subject: The object that the message is about; nil for none.
    /// - Complexity: O(*n*), where *n* is the number of observers of the type.
    ///
    /// > Thread safety: any thread. The observers are called on the calling thread.
    public func post<Message: NotificationMessage>(_ message: Message, subject: Message.Subject? = nil) {
        post(message: message, of: subject)
    }

    /// Registers a handler for messages of a type.
    ///
    /// A handler that is registered twice is called twice.
    ///
    /// - Parameters:
    ///   - subject: The object whose messages to observe; nil for messages with any subject, or without one. The center does not
    ///     keep the subject alive, and does not call the handler after the subject has been destroyed.
    ///   - type: The type of message to observe.
    ///   - handler: Called on the posting thread.
    /// - Returns: A token. The observation ends when the token is removed or the last reference to it is released.
    ///
    /// > Thread safety: any thread.
    public func addObserver<Message: NotificationMessage>(
        of subject: Message.Subject? = nil, for type: Message.Type,
        using handler: @escaping @Sendable (Message) -> Void
    ) -> ObservationToken {
        observe(type, of: subject, handler)
    }
}
