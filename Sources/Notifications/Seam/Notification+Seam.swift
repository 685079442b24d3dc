/// The contents of a notification, under names other than `object` and `userInfo`.
///
/// A module that redefines `object` and `userInfo` with Foundation's types uses these names.
extension Notification {
    /// The value of this module's ``Notification/object``.
    package var sendableObject: (any AnyObject & Sendable)? { object }

    /// The value of this module's ``Notification/userInfo``.
    package var sendableFacts: [String: any Sendable] { userInfo }
}
