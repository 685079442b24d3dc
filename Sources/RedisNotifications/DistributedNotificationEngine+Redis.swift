public import DistributedNotifications
internal import RunLoops

extension DistributedNotificationEngine {
    /// Returns an engine that delivers notifications through a Redis or Valkey server, between any number of machines.
    ///
    /// The server must be Redis 6.2 or Valkey 7.2, or later. <doc:NotificationsThroughRedis> describes the keys, and the
    /// consequences if the server loses data.
    ///
    /// - Parameters:
    ///   - address: The address of the server.
    ///   - options: The settings.
    /// - Returns: The engine. It connects when a center is made with it.
    ///
    /// > Thread safety: any thread.
    public static func redis(
        _ address: RedisAddress, options: RedisOptions = RedisOptions()
    ) -> DistributedNotificationEngine {
        options.check()
        if case .tcp(_, let port) = address, !(1...65_535).contains(port) {
            misuse("DistributedNotificationEngine.redis: \(port) is no port; use 1 to 65535")
        }
        return DistributedNotificationEngine(name: "Redis at \(address)") { loop in
            RedisEngine(address, options, loop)
        }
    }
}
