/// The contents of a notification under names of their own, for a module that adds others of the same names in Foundation's types.
extension Notification {
    /// ``Notification/object`` of this module.
    package var sendableObject: (any AnyObject & Sendable)? { object }

    /// ``Notification/userInfo`` of this module.
    package var sendableFacts: [String: any Sendable] { userInfo }
}
