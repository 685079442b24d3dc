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

    /// Makes a notification with facts whose keys are strings.
    ///
    /// The compiler chooses this initializer for a dictionary literal. It would otherwise choose the initializer of the module
    /// Notifications, and then refuse facts that are not `Sendable`.
    ///
    /// - Parameters:
    ///   - name: The name of the event.
    ///   - object: The object that the notification is about, usually its sender.
    ///   - userInfo: Facts about the event.
    ///   - fileID: The file in which the notification is made.
    ///   - line: The line on which the notification is made.
    public init(
        name: Name, object: Any? = nil, userInfo: [String: Any], fileID: StaticString = #fileID,
        line: Int = #line
    ) {
        self.init(
            name: name, object: object, userInfo: userInfo as [AnyHashable: Any], fileID: fileID, line: line)
    }

    /// The object that the notification is about, usually its sender.
    public var object: Any? {
        get {
            if let contents { return contents.object }
            return sendableObject
        }
        set {
            self = Notification(name: name, object: newValue, userInfo: userInfo, fileID: fileID, line: line)
        }
    }

    /// Facts about the event; nil if there are none.
    public var userInfo: [AnyHashable: Any]? {
        get {
            if let contents { return contents.userInfo }
            let facts = sendableFacts
            return facts.isEmpty
                ? nil : Dictionary(uniqueKeysWithValues: facts.map { (AnyHashable($0), $1) })
        }
        set {
            guard let sender, object == nil else {
                self = Notification(
                    name: name, object: object, userInfo: newValue, fileID: fileID, line: line)
                return
            }
            // The sender has given its identity alone, which stays.
            let contents = NotificationContents(object: nil, userInfo: newValue, identity: nil)
            self = Notification(name: name, sender: sender, payload: contents, fileID: fileID, line: line)
        }
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
    ///   both are the same instance of a class, or the same type.
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
        return ObjectIdentity.of(left) === ObjectIdentity.of(right)
    }

    /// Hashes the name and the identity of the sender.
    ///
    /// - Parameter hasher: The hasher.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(name)
        hasher.combine(sender)
    }
}

extension Notification: CustomDebugStringConvertible {
    /// The name, the object and the facts, as Foundation describes a notification.
    public var debugDescription: String {
        let object = object.map { ", object = \($0)" } ?? ""
        let facts = userInfo.map { ", userInfo = \($0)" } ?? ""
        return "name = \(name.rawValue)\(object)\(facts)"
    }
}

extension Notification: CustomReflectable {
    /// The name, the object and the facts, as in Foundation.
    public var customMirror: Mirror {
        var children: [(label: String?, value: Any)] = [("name", name.rawValue)]
        if let object { children.append(("object", object)) }
        if let userInfo { children.append(("userInfo", userInfo)) }
        return Mirror(self, children: children, displayStyle: .class)
    }
}
