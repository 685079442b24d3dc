/// The contents of a notification under other names, for a module that adds `object` and `userInfo` with Foundation's types.
extension Notification {
    /// The object, as in ``Notification/object`` of this module.
    package var sendableObject: (any AnyObject & Sendable)? { object }

    /// The facts, as in ``Notification/userInfo`` of this module.
    package var sendableFacts: [String: any Sendable] { userInfo }
}
