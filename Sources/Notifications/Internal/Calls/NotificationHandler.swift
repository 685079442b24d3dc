/// The handler of an observation of notifications.
///
/// The closure is a constant property of an object, because such a closure is called without being retained. The class is not
/// generic, because a closure in an object of a generic class is called through a second closure.
final class NotificationHandler {
    let body: (Notification) -> Void
    init(_ body: @escaping (Notification) -> Void) { self.body = body }
}

/// The handler of an observation of messages of a type.
final class MessageHandler<Message: NotificationMessage> {
    let body: (Message) -> Void
    init(_ body: @escaping (Message) -> Void) { self.body = body }
}
