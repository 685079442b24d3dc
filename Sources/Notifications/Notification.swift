/// An event that a sender announces to its observers: a name, and perhaps the sender and some facts.
///
/// ```swift
/// let note = Notification(name: .didConnect, userInfo: ["host": "example.com"])
/// ```
///
/// > Thread safety: a value; everything that it refers to is `Sendable`.
public struct Notification: Sendable {
    /// The name of the event.
    public let name: Name

    /// The object that the notification is about, usually its sender.
    ///
    /// Observers may ask for the notifications of one object; objects are compared by identity. The notification keeps
    /// the object alive.
    public let object: (any AnyObject & Sendable)?

    /// Facts about the event, by key; empty if there are none.
    public let userInfo: [String: any Sendable]

    /// The identity of the sender: that of ``object``, or an identity alone, given by a sender that is confined to a thread.
    public let sender: ObjectIdentifier?

    /// The file in which the notification was made.
    public let fileID: StaticString

    /// The line on which the notification was made.
    public let line: Int

    /// The deliveries that the poster waits for, if it waits.
    var pendingDeliveries: PendingDeliveries?

    /// Makes a notification.
    ///
    /// - Parameters:
    ///   - name: The name of the event.
    ///   - object: The object that the notification is about, usually its sender.
    ///   - userInfo: Facts about the event, by key.
    ///   - fileID: The file in which it is made.
    ///   - line: The line on which it is made.
    public init(
        name: Name, object: (any AnyObject & Sendable)? = nil, userInfo: [String: any Sendable] = [:],
        fileID: StaticString = #fileID, line: Int = #line
    ) {
        self.name = name
        self.object = object
        self.userInfo = userInfo
        sender = object.map { ObjectIdentifier($0) }
        self.fileID = fileID
        self.line = line
    }

    /// Makes a notification of a sender that is confined to a thread, and so gives only its identity.
    ///
    /// The notification does not keep the sender alive. An identity has a meaning only while the object is alive.
    ///
    /// - Parameters:
    ///   - name: The name of the event.
    ///   - sender: The identity of the sender.
    ///   - userInfo: Facts about the event, by key.
    ///   - fileID: The file in which it is made.
    ///   - line: The line on which it is made.
    public init(
        name: Name, sender: ObjectIdentifier, userInfo: [String: any Sendable] = [:],
        fileID: StaticString = #fileID, line: Int = #line
    ) {
        self.name = name
        object = nil
        self.userInfo = userInfo
        self.sender = sender
        self.fileID = fileID
        self.line = line
    }
}

extension Notification: CustomStringConvertible {
    /// The name, and the file and line where the notification was made.
    public var description: String { "\(name.rawValue), made at \(fileID):\(line)" }
}
