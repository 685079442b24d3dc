/// The handler that an observation calls with notifications.
///
/// The handler is a class with a constant property, because Swift calls the closure in such a property without retaining it. The
/// class is not generic, because Swift calls a closure in an object of a generic class through a second closure.
final class NotificationHandler {
    let body: (Notification) -> Void
    init(_ body: @escaping (Notification) -> Void) { self.body = body }
}

/// The handler that an observation calls with messages of one type.
final class MessageHandler<Message> {
    let body: (Message) -> Void
    init(_ body: @escaping (Message) -> Void) { self.body = body }
}
