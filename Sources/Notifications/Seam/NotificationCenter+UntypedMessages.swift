internal import RunLoops

/// Messages of any type, for a module that has protocols of its own for messages.
///
/// The caller decides on which thread a message that is not `Sendable` is posted and handled.
extension NotificationCenter {
    /// Calls the observers of messages of this type, and returns when the last one has returned.
    ///
    /// - Parameters:
    ///   - message: The message.
    ///   - subject: The object that the message is about; nil for none.
    package func post<Message>(message: Message, of subject: (any AnyObject & Sendable)?) {
        let record = CallRecord.current
        let observers = messages.observers(of: ObjectIdentifier(Message.self), record)
        if observers.count == 0 { return }
        let sender = subject.map { ObjectIdentifier($0) }
        record.withSlot { slot in
            for index in 0..<observers.count {
                // Safe: the post has a reference to the list, which retains the observation. Only observations of this type
                // are registered under the type's identity.
                unsafe observers[index]._withUnsafeGuaranteedRef { observation in
                    if observation.matches(sender, isHeld: true) {
                        observation.call(message: message, in: slot)
                    }
                }
            }
        }
    }

    /// Registers a handler for messages of a type.
    ///
    /// - Parameters:
    ///   - type: The type of message.
    ///   - subject: The object whose messages to observe; nil for messages with any subject, or without one.
    ///   - handler: Called on the posting thread.
    /// - Returns: The token of the observation.
    package func observe<Message>(
        _ type: Message.Type, of subject: (any AnyObject & Sendable)?,
        _ handler: @escaping @Sendable (Message) -> Void
    ) -> ObservationToken {
        let key = ObjectIdentifier(Message.self)
        let observation = messages.add(for: key) {
            Observation(sequence: $0, object: subject, handler: MessageHandler<Message>(handler))
        }
        return ObservationToken(Registration(observation) { [weak messages] in messages?.forget(for: key) })
    }

    /// Returns an asynchronous sequence of messages of a type.
    ///
    /// - Parameters:
    ///   - type: The type of message.
    ///   - subject: The object whose messages to observe; nil for messages with any subject, or without one. It is not kept alive.
    ///   - bufferingPolicy: The policy that decides which elements are buffered while the task is busy.
    /// - Returns: The sequence. It does not keep the center alive.
    package func sequence<Message: Sendable>(
        of type: Message.Type, of subject: (any AnyObject & Sendable)?,
        bufferingPolicy: ObservationSequence<Message>.BufferingPolicy
    ) -> ObservationSequence<Message> {
        let reference = subject.map { WeakReference($0) }
        return ObservationSequence(bufferingPolicy: bufferingPolicy) { [weak self] handler in
            guard let reference else { return self?.observe(type, of: nil, handler) }
            // If the subject has been destroyed, there is nothing to observe.
            guard let subject = reference.sendable else { return nil }
            return self?.observe(type, of: subject, handler)
        }
    }
}

extension ObservationToken {
    /// True if the observation has ended.
    package var isRemoved: Bool { registration.isRemoved }
}
