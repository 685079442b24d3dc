/// The handler of an observation of notifications.
///
/// This is an object, because a closure that is a constant of an object is called without counting a reference to it. The class
/// is not generic, because a closure in a generic object is called through another closure.
final class NotificationHandler {
    let body: (Notification) -> Void
    init(_ body: @escaping (Notification) -> Void) { self.body = body }
}

/// The handler of an observation of messages of a type.
final class MessageHandler<Message: NotificationMessage> {
    let body: (Message) -> Void
    init(_ body: @escaping (Message) -> Void) { self.body = body }
}
