internal import Foundation
internal import Notifications

/// The object and the facts of a notification, in Foundation's types.
///
/// `@unchecked Sendable`: the properties are constant. The values that they refer to belong to the poster, which sends them to the
/// observers' threads as with Foundation: neither the compiler nor this type knows if they are `Sendable`.
final class NotificationContents: @unchecked Sendable {
    let object: Any?
    let userInfo: [AnyHashable: Any]?

    /// The identity by which the object is compared.
    ///
    /// If the object is a value, the notification keeps this identity alive, so that an equal value gets the same identity.
    private let identity: (any AnyObject & Sendable)?

    init(object: Any?, userInfo: [AnyHashable: Any]?, identity: (any AnyObject & Sendable)?) {
        self.object = object
        self.userInfo = userInfo
        self.identity = identity
    }
}
