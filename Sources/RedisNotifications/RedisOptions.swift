internal import RunLoops

/// The address of a Redis or Valkey server.
///
/// > Thread safety: a value.
@nonexhaustive
public enum RedisAddress: Hashable, Sendable {
    /// A Unix socket.
    case unix(path: String)
    /// A TCP port of a host; each time that the engine connects, it looks up the host's name on another thread.
    case tcp(host: String, port: UInt16 = 6_379)
}

extension RedisAddress: CustomStringConvertible {
    /// The path, or the host and the port.
    public var description: String {
        switch self {
        case .unix(let path): path
        case .tcp(let host, let port): "\(host):\(port)"
        }
    }
}

/// The settings of the engine that delivers notifications through Redis or Valkey.
///
/// ```swift
/// var options = RedisOptions()
/// options.namespace = "shop"
/// options.password = secret
/// ```
///
/// > Thread safety: a value.
public struct RedisOptions: Hashable, Sendable {
    /// The name of the center's space.
    ///
    /// Several spaces can share a server. A center sees only the notifications of its own space. All keys of a space begin with
    /// `dn:{space}:`.
    public var namespace = "default"

    /// The user to authenticate as; nil for the default user.
    public var user: String?

    /// The password to authenticate with; nil for none.
    public var password: String?

    /// The number of the database.
    public var database = 0

    /// The approximate number of entries that the server keeps in its stream.
    ///
    /// An observer reads these entries if it starts with earlier notifications, or after it has connected again. An entry holds the
    /// notifications that a center hands over at the same time. This is one notification if the center posts seldom, and up to 16
    /// notifications if the center posts thousands a second.
    public var streamLengthLimit = 100_000

    /// The time for which a center keeps a post after the server has accepted it.
    ///
    /// A server that writes its file once a second loses up to the last two seconds of data when it crashes. When the engine
    /// connects again, the center resends all posts that it keeps, and the server adds the posts that it does not have.
    public var retention = Duration.seconds(3)

    /// The maximum number of accepted posts that a center keeps for the time ``retention``.
    ///
    /// If there are more accepted posts, the center stops keeping the oldest ones before ``retention`` has passed. So the
    /// retention never limits the rate of posts. With the defaults, the center keeps every post for the whole time if it posts at
    /// most 32,768 times in three seconds, which is some 10,000 times a second.
    ///
    /// The limits in the center's own options count only the posts that the server has not accepted yet.
    public var retainedPostLimit = 32_768

    /// The maximum total size, in bytes, of the accepted posts that a center keeps for the time ``retention``.
    ///
    /// If the total is larger, the center stops keeping the oldest posts before ``retention`` has passed.
    public var retainedByteLimit = 33_554_432

    /// The time within which the server has to answer when the engine connects.
    public var connectTimeout = Duration.seconds(5)

    /// Makes settings that suit a server of your own.
    public init() {}

    /// Ends the program if a setting is out of its range.
    func check() {
        if namespace.isEmpty || namespace.utf8.contains(UInt8(ascii: "}")) {
            misuse(
                "RedisOptions.namespace: \"\(namespace)\" cannot be part of a key; use a name without a closing brace"
            )
        }
        if streamLengthLimit < 1 {
            misuse("RedisOptions.streamLengthLimit: \(streamLengthLimit) keeps nothing; use some thousands")
        }
        if database < 0 {
            misuse("RedisOptions.database: \(database) is no database; use 0 or a higher number")
        }
        if retainedPostLimit < 0 || retainedByteLimit < 0 {
            misuse(
                "RedisOptions: a retention of \(retainedPostLimit) posts and \(retainedByteLimit) bytes makes no sense; use 0 or more"
            )
        }
        if retention < .zero || connectTimeout <= .zero {
            misuse(
                "RedisOptions: a retention of \(retention) or a timeout of \(connectTimeout) makes no sense; use some seconds"
            )
        }
    }
}
