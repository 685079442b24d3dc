import DistributedNotifications
import RedisNotifications
import TestExpectations
import Testing

/// The code of the articles of RedisNotifications.
@Suite struct RedisSnippets {
    @Test func `a center connects through a Unix socket`() throws {
        let center = try DistributedNotificationCenter(.redis(.unix(path: "/run/redis/redis.sock")))
        #expect("\(center)".contains("Redis at /run/redis/redis.sock"))
    }

    @Test func `a center has settings for the server`() throws {
        let password = "secret"
        var options = RedisOptions()
        options.namespace = "shop"
        options.password = password
        options.streamLengthLimit = 1_000_000
        let center = try DistributedNotificationCenter(.redis(.tcp(host: "redis.internal"), options: options))
        #expect(!"\(center)".contains(password))
    }

    @Test(arguments: ["space", "streamLength", "database", "retention", "retainedPosts", "port"])
    func `settings that make no sense end the program`(setting: String) async {
        let result = await #expect(
            processExitsWith: .failure, observing: [\.standardErrorContent]
        ) { [setting] in
            var options = RedisOptions()
            var address = RedisAddress.unix(path: "/nowhere")
            switch setting {
            case "space": options.namespace = "a}b"
            case "streamLength": options.streamLengthLimit = 0
            case "database": options.database = -1
            case "retention": options.retention = .seconds(-1)
            case "retainedPosts": options.retainedPostLimit = -1
            default: address = .tcp(host: "localhost", port: 0)
            }
            _ = try DistributedNotificationCenter(.redis(address, options: options))
        }
        #expect(result?.message.contains("; use ") == true)
    }
}
