/// An event that a sender announces to its observers, with a name and, optionally, the sender and facts about the event.
///
/// ```swift
/// let note = Notification(name: .didConnect, userInfo: ["host": "example.com"])
/// ```
///
/// > Thread safety: a value; everything that it refers to is `Sendable`.
public struct Notification: Sendable {
    /// The name of the event.
    public var name: Name

    /// The object that the notification is about, usually its sender.
    ///
    /// An observer can restrict itself to the notifications of one object. Objects are compared by identity. The notification keeps
    /// its object alive.
    @_disfavoredOverload public var object: (any AnyObject & Sendable)? { isPayload ? nil : content }

    /// Facts about the event, by key; empty if there are none.
    @_disfavoredOverload public let userInfo: [String: any Sendable]

    /// The identity of the sender; nil if there is no sender.
    ///
    /// This is the identity of ``object``. A sender that is confined to a thread gives its identity alone, without an object.
    public let sender: ObjectIdentifier?

    /// The file in which the notification was made.
    public let fileID: StaticString

    /// The line on which the notification was made.
    public let line: Int

    /// The object, or the payload; nil if there is neither.
    ///
    /// If the identity of the content is ``sender``, the content is the object; otherwise it is the payload. The object and the
    /// payload share one property to keep a notification small. The notification must fit into a parcel, in which it is sent to
    /// another loop.
    private let content: (any AnyObject & Sendable)?

    /// The unfinished deliveries of this notification that the poster waits for; nil if the poster does not wait.
    var pendingDeliveries: PendingDeliveries?

    /// Makes a notification.
    ///
    /// - Parameters:
    ///   - name: The name of the event.
    ///   - object: The object that the notification is about, usually its sender.
    ///   - userInfo: Facts about the event, by key.
    ///   - fileID: The file in which the notification is made.
    ///   - line: The line on which the notification is made.
    @_disfavoredOverload
    public init(
        name: Name, object: (any AnyObject & Sendable)? = nil, userInfo: [String: any Sendable] = [:],
        fileID: StaticString = #fileID, line: Int = #line
    ) {
        self.name = name
        content = object
        self.userInfo = userInfo
        sender = object.map { ObjectIdentifier($0) }
        self.fileID = fileID
        self.line = line
    }

    /// Makes a notification whose sender gives only its identity, because the sender is confined to a thread.
    ///
    /// The notification does not keep the sender alive. The identity is meaningful only while the sender is alive.
    ///
    /// - Parameters:
    ///   - name: The name of the event.
    ///   - sender: The identity of the sender.
    ///   - userInfo: Facts about the event, by key.
    ///   - fileID: The file in which the notification is made.
    ///   - line: The line on which the notification is made.
    public init(
        name: Name, sender: ObjectIdentifier, userInfo: [String: any Sendable] = [:],
        fileID: StaticString = #fileID, line: Int = #line
    ) {
        self.name = name
        content = nil
        self.userInfo = userInfo
        self.sender = sender
        self.fileID = fileID
        self.line = line
    }

    /// Makes a notification whose contents have types that only the calling module knows.
    ///
    /// - Parameters:
    ///   - name: The name of the event.
    ///   - sender: The identity of the sender; nil for no sender. The payload must not be the sender itself, but must keep the
    ///     sender alive.
    ///   - payload: The contents.
    ///   - fileID: The file in which the notification is made.
    ///   - line: The line on which the notification is made.
    package init(
        name: Name, sender: ObjectIdentifier?, payload: any AnyObject & Sendable, fileID: StaticString,
        line: Int
    ) {
        self.name = name
        content = payload
        userInfo = [:]
        self.sender = sender
        self.fileID = fileID
        self.line = line
    }
}

extension Notification {
    /// An object with the contents of a notification that another module has made; nil if there is none.
    ///
    /// This module does not know the type of the object.
    package var payload: (any AnyObject & Sendable)? { isPayload ? content : nil }

    /// True if the notification keeps its sender alive: as its object, or in its payload.
    var holdsSender: Bool { content != nil }

    private var isPayload: Bool {
        guard let content else { return false }
        return sender != ObjectIdentifier(content)
    }
}

extension Notification: CustomStringConvertible {
    /// The name, and the file and line where the notification was made.
    public var description: String { "\(name.rawValue), made at \(fileID):\(line)" }
}
