/// The contents of a notification, under names other than `object` and `userInfo`.
///
/// A module that redefines `object` and `userInfo` with Foundation's types uses these names.
extension Notification {
    /// The value of ``Notification/object`` as this module defines it.
    package var sendableObject: (any AnyObject & Sendable)? { object }

    /// The value of ``Notification/userInfo`` as this module defines it.
    package var sendableFacts: [String: any Sendable] { userInfo }
}
