/// The contents of a notification under separate names, for a module that adds members with the usual names in Foundation's types.
extension Notification {
    /// ``Notification/object`` of this module.
    package var sendableObject: (any AnyObject & Sendable)? { object }

    /// ``Notification/userInfo`` of this module.
    package var sendableFacts: [String: any Sendable] { userInfo }
}
