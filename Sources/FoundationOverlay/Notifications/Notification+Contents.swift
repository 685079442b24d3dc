public import Notifications

public import struct Notifications.Notification

/// The notification type of this package, under the name of Foundation's class.
public typealias NSNotification = Notifications.Notification

/// A notification's object and facts, in Foundation's types.
///
/// A notification that is made with these members carries its object and facts to any thread on which an observer runs. The
/// compiler does not check that the object and the facts are `Sendable`. It checks this only for notifications that are made with
/// the members of the module Notifications.
extension Notification {
    /// Makes a notification.
    ///
    /// - Parameters:
    ///   - name: The name of the event.
    ///   - object: The object that the notification is about, usually its sender. If an observer observes one object, that object
    ///     is compared with this one: an instance of a class by identity, a hashable value by equality.
    ///   - userInfo: Facts about the event.
    ///   - fileID: The file in which the notification is made.
    ///   - line: The line on which the notification is made.
    public init(
        name: Name, object: Any? = nil, userInfo: [AnyHashable: Any]? = nil, fileID: StaticString = #fileID,
        line: Int = #line
    ) {
        if object == nil && userInfo == nil {
            let none: (any AnyObject & Sendable)? = nil
            let noFacts: [String: any Sendable] = [:]
            self.init(name: name, object: none, userInfo: noFacts, fileID: fileID, line: line)
            return
        }
        let identity = ObjectIdentity.of(object)
        let contents = NotificationContents(object: object, userInfo: userInfo, identity: identity)
        self.init(
            name: name, sender: identity.map { ObjectIdentifier($0) }, payload: contents, fileID: fileID,
            line: line)
    }

    /// The object that the notification is about, usually its sender.
    public var object: Any? {
        if let contents { return contents.object }
        return sendableObject
    }

    /// Facts about the event; nil if there are none.
    public var userInfo: [AnyHashable: Any]? {
        if let contents { return contents.userInfo }
        let facts = sendableFacts
        return facts.isEmpty ? nil : Dictionary(uniqueKeysWithValues: facts.map { (AnyHashable($0), $1) })
    }

    private var contents: NotificationContents? { payload as? NotificationContents }
}

extension Notification: Hashable {
    /// Compares two notifications.
    ///
    /// - Parameters:
    ///   - left: A notification.
    ///   - right: Another notification.
    /// - Returns: True if both have the same name, the same object and equal facts. Facts that are not hashable are equal only if
    ///   both are the same instance of a class.
    public static func == (left: Notification, right: Notification) -> Bool {
        if left.name != right.name || left.sender != right.sender { return false }
        let facts: (left: [AnyHashable: Any]?, right: [AnyHashable: Any]?) = (left.userInfo, right.userInfo)
        guard let ours = facts.left, let theirs = facts.right else {
            return facts.left == nil && facts.right == nil
        }
        return ours.count == theirs.count
            && ours.allSatisfy { key, fact in theirs[key].map { isEqual(fact, $0) } ?? false }
    }

    private static func isEqual(_ left: Any, _ right: Any) -> Bool {
        if let left = left as? AnyHashable, let right = right as? AnyHashable { return left == right }
        guard type(of: left) is AnyClass, type(of: right) is AnyClass else { return false }
        return left as AnyObject === right as AnyObject
    }

    /// Hashes the name and the identity of the sender.
    ///
    /// - Parameter hasher: The hasher.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(name)
        hasher.combine(sender)
    }
}
