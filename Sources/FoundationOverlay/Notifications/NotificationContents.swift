internal import Foundation
internal import Notifications

/// The object and the facts of a notification, in Foundation's types.
///
/// `@unchecked Sendable`: the properties are constant. What they refer to is the poster's, which sends it to the observers' threads
/// as with Foundation: neither the compiler nor this type knows if it is `Sendable`.
final class NotificationContents: @unchecked Sendable {
    let object: Any?
    let userInfo: [AnyHashable: Any]?

    /// The identity that stands for an object that is a value; kept as long as the notification, so that an equal value has the
    /// same one.
    private let identity: (any AnyObject & Sendable)?

    init(object: Any?, userInfo: [AnyHashable: Any]?, identity: (any AnyObject & Sendable)?) {
        self.object = object
        self.userInfo = userInfo
        self.identity = identity
    }
}
