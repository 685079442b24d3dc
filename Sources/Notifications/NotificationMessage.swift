/// A notification with a type of its own, in place of a name and a dictionary.
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
/// Messages and notifications do not meet: an observer of names, or of every name, sees no message. Messages are told apart
/// by their type alone.
public protocol NotificationMessage: Sendable {
    /// What a message is about, usually who posts it.
    associatedtype Subject: AnyObject & Sendable
}

extension NotificationCenter {
    /// Calls everybody who observes messages of this type, and returns when the last one has.
    ///
    /// In the order in which they were registered, as ``post(_:)`` does.
    ///
    /// - Parameters:
    ///   - message: What has happened.
    ///   - subject: What it is about; nil for nothing in particular.
    /// - Complexity: O(*n*) for *n* observers of the type.
    ///
    /// > Thread safety: any thread, on which the observers are called.
    public func post<Message: NotificationMessage>(_ message: Message, subject: Message.Subject? = nil) {
        let key = ObjectIdentifier(Message.self)
        let record = CallRecord.current
        let observers = messages.observers(of: key, record)
        if observers.count == 0 { return }
        let sender = subject.map { ObjectIdentifier($0) }
        record.withPlace { place in
            for index in 0..<observers.count {
                // Safe: the list that the post has a reference to holds the observation. Under a type's identity, only
                // observations of that type are registered.
                unsafe observers[index]._withUnsafeGuaranteedRef { observation in
                    if observation.matches(sender) { observation.call(message: message, in: place) }
                }
            }
        }
    }

    /// Registers a handler for messages of a type.
    ///
    /// Registered twice, it is called twice.
    ///
    /// - Parameters:
    ///   - subject: Whose messages are observed; nil for anybody's, and for those without a subject. It is not kept alive,
    ///     and once it has gone the handler is not called any more.
    ///   - type: The type.
    ///   - handler: Called on the thread that posts.
    /// - Returns: A token: the observation ends when it is removed, or when its last copy goes.
    ///
    /// > Thread safety: any thread.
    public func addObserver<Message: NotificationMessage>(
        of subject: Message.Subject? = nil, for type: Message.Type,
        using handler: @escaping @Sendable (Message) -> Void
    ) -> ObservationToken {
        let key = ObjectIdentifier(Message.self)
        let observation = messages.add(for: key) {
            Observation(sequence: $0, object: subject, handler: MessageHandler<Message>(handler))
        }
        return ObservationToken(Registration(observation) { [weak messages] in messages?.forget(for: key) })
    }
}
