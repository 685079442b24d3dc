/// What a poster tells its observers: a name, perhaps who it is, and perhaps some facts.
///
/// ```swift
/// let note = Notification(name: .didConnect, userInfo: ["host": "example.com"])
/// ```
///
/// > Thread safety: a value; what it refers to is `Sendable`.
public struct Notification: Sendable {
    /// What it is about.
    public let name: Name

    /// Usually who posts it.
    ///
    /// Observers may ask for the notifications of one object; objects are told apart by identity. The
    /// notification keeps it alive.
    public let object: (any AnyObject & Sendable)?

    /// Facts about it, by key; empty if there are none.
    public let userInfo: [String: any Sendable]

    /// The identity of its sender: that of ``object``, or one given alone by a sender that is confined to a thread.
    public let sender: ObjectIdentifier?

    /// The file in which it was made.
    public let fileID: StaticString

    /// The line on which it was made.
    public let line: Int

    /// Who waits until it is delivered.
    var receipt: Receipt?

    /// Makes a notification.
    ///
    /// - Parameters:
    ///   - name: What it is about.
    ///   - object: Usually who posts it.
    ///   - userInfo: Facts about it, by key.
    ///   - fileID: The file in which it was made.
    ///   - line: The line on which it was made.
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

    /// Makes a notification of a sender that is confined to a thread, and so gives its identity alone.
    ///
    /// The sender is not kept alive. An identity is worth something only while the object lives.
    ///
    /// - Parameters:
    ///   - name: What it is about.
    ///   - sender: The identity of who posts it.
    ///   - userInfo: Facts about it, by key.
    ///   - fileID: The file in which it was made.
    ///   - line: The line on which it was made.
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

extension Notification {
    /// What a notification is about.
    ///
    /// ```swift
    /// extension Notification.Name { static let didConnect = Notification.Name("com.example.didConnect") }
    /// ```
    ///
    /// > Thread safety: a value.
    public struct Name: RawRepresentable, Hashable, Sendable {
        /// The name as a string.
        public let rawValue: String

        /// Computed once: every post looks its name up.
        let shardHash: Int

        /// Makes a name.
        ///
        /// Hashing it takes a while for a long one: keep names in constants.
        ///
        /// - Parameter rawValue: The name as a string.
        public init(rawValue: String) {
            self.rawValue = rawValue
            shardHash = rawValue.hashValue
        }

        /// Makes a name.
        ///
        /// - Parameter rawValue: The name as a string.
        public init(_ rawValue: String) { self.init(rawValue: rawValue) }

        /// Whether both are the same string.
        ///
        /// - Parameters:
        ///   - left: A name.
        ///   - right: Another one.
        /// - Returns: Whether both are the same string.
        public static func == (left: Name, right: Name) -> Bool {
            left.shardHash == right.shardHash && left.rawValue == right.rawValue
        }

        /// Feeds the name.
        ///
        /// - Parameter hasher: What is fed.
        public func hash(into hasher: inout Hasher) { hasher.combine(shardHash) }
    }
}

extension Notification.Name: ObserverKey {}

extension Notification: CustomStringConvertible {
    /// The name, and where the notification was made.
    public var description: String { "\(name.rawValue), made at \(fileID):\(line)" }
}

extension Notification.Name: CustomStringConvertible {
    /// The name as a string.
    public var description: String { rawValue }
}
