/// The contents of a notification under other names, for a module that adds `object` and `userInfo` with Foundation's types.
extension Notification {
    /// The value of ``Notification/object`` of this module.
    package var sendableObject: (any AnyObject & Sendable)? { object }

    /// The value of ``Notification/userInfo`` of this module.
    package var sendableFacts: [String: any Sendable] { userInfo }
}
