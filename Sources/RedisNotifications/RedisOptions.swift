internal import RunLoops

/// The address of a Redis or Valkey server.
///
/// > Thread safety: a value.
public enum RedisAddress: Hashable, Sendable {
    /// A Unix socket.
    case unix(path: String)
    /// A TCP port of a host, whose name the engine looks up on another thread each time that it connects.
    case tcp(host: String, port: Int = 6_379)
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
/// options.space = "shop"
/// options.password = secret
/// ```
///
/// > Thread safety: a value.
public struct RedisOptions: Hashable, Sendable {
    /// The name of the space that the notifications are in.
    ///
    /// Centers of other spaces do not see these notifications. All keys begin with `dn:{space}:`.
    public var space = "default"

    /// The user to authenticate as; nil for the default user.
    public var user: String?

    /// The password to authenticate with; nil for none.
    public var password: String?

    /// The number of the database.
    public var database = 0

    /// The approximate number of entries that the server keeps for observers that start with earlier notifications or connect
    /// again.
    ///
    /// An entry holds the notifications that a center hands over at the same time: one if the center posts seldom, and up to 16 if
    /// it posts thousands a second.
    public var streamLength = 100_000

    /// The time for which a center keeps a post after the server has accepted it.
    ///
    /// A server that writes its file once a second loses up to two seconds when it crashes. When the connection begins anew, the
    /// center sends again what it keeps, and the server adds what it does not have.
    public var retention = Duration.seconds(3)

    /// The largest number of accepted posts that a center keeps for the retention.
    ///
    /// Beyond it, the oldest of them are kept for less time than ``retention``. So the retention never limits the number of posts
    /// a second: up to 32,768 in three seconds, some 10,000 a second, each is kept for the whole time. The limits of the center's
    /// own options count the posts that the server has not accepted yet, and not these.
    public var retainedPosts = 32_768

    /// The largest number of bytes of accepted posts that a center keeps for the retention.
    ///
    /// Beyond it, the oldest of them are kept for less time.
    public var retainedBytes = 33_554_432

    /// The time within which the server has to answer when the engine connects.
    public var timeout = Duration.seconds(5)

    /// Makes settings that suit a server of your own.
    public init() {}

    /// Ends the program if a setting is out of its range.
    func check() {
        if space.isEmpty || space.utf8.contains(UInt8(ascii: "}")) {
            misuse(
                "RedisOptions.space: \"\(space)\" cannot be part of a key; use a name without a closing brace"
            )
        }
        if streamLength < 1 {
            misuse("RedisOptions.streamLength: \(streamLength) keeps nothing; use some thousands")
        }
        if database < 0 {
            misuse("RedisOptions.database: \(database) is no database; use 0 or a higher number")
        }
        if retainedPosts < 0 || retainedBytes < 0 {
            misuse(
                "RedisOptions: a retention of \(retainedPosts) posts and \(retainedBytes) bytes makes no sense; use 0 or more"
            )
        }
        if retention < .zero || timeout <= .zero {
            misuse(
                "RedisOptions: a retention of \(retention) or a timeout of \(timeout) makes no sense; use some seconds"
            )
        }
    }
}
