import CacheWorkers
import DistributedNotifications
import RedisNotifications
import ServerSupport

/// The worker of `cache-worker`, with another engine: the processes meet at a Redis or Valkey server.
@main struct RedisCacheWorker {
    static let usage = """
        usage: redis-cache-worker --database DIRECTORY [--socket /run/redis/redis.sock]

          --database  the directory with a file for each user, which all workers share
          --socket    the Unix socket of the server
        commands on standard input: get USER, set USER NAME
        exits with 0 at the end of the input
        """

    static func main() {
        runProgram {
            try runWorker(usage: usage) { arguments in
                .redis(.unix(path: arguments.text("socket", default: "/run/redis/redis.sock")))
            }
        }
    }
}
