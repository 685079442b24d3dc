/// The contents of a notification under names of their own, for a module that redefines `object` and `userInfo` with Foundation's
/// types.
extension Notification {
    /// The value of this module's ``Notification/object``.
    package var sendableObject: (any AnyObject & Sendable)? { object }

    /// The value of this module's ``Notification/userInfo``.
    package var sendableFacts: [String: any Sendable] { userInfo }
}
