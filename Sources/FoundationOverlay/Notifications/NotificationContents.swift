internal import Foundation
internal import Notifications

/// The object and the `userInfo` of a notification, in Foundation's types.
///
/// `@unchecked Sendable`: the properties are constant. The poster is responsible for their values. As with Foundation, these values
/// reach the observers' threads, and neither the compiler nor this type checks that the values are `Sendable`.
final class NotificationContents: @unchecked Sendable {
    let object: Any?
    let userInfo: [AnyHashable: Any]?

    /// The instance that stands for the object in comparisons.
    ///
    /// If the object is a value, the notification keeps this instance alive, so that an equal value gets the same instance.
    private let identity: (any AnyObject & Sendable)?

    init(object: Any?, userInfo: [AnyHashable: Any]?, identity: (any AnyObject & Sendable)?) {
        self.object = object
        self.userInfo = userInfo
        self.identity = identity
    }
}
