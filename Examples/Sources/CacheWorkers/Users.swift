import DistributedNotifications
import Glibc
import RunLoops
import ServerSupport

/// The users of a database, with a cache that forgets what another process has changed.
///
/// It lives on the main thread: commands and notifications are served there one after the other, so nothing comes between reading
/// a user and putting it into the cache.
final class Users {
    /// The cache, which only handlers on the main thread use.
    private let cache = Cache()
    private let database: String
    private let center: DistributedNotificationCenter
    private var observation: DistributedObservation?

    init(database: String, center: DistributedNotificationCenter) {
        self.database = database
        self.center = center
    }

    /// Begins to hear of changes.
    func begin() {
        observation = center.addObserver(forName: "user.changed", on: .main) { [cache] event in
            switch event {
            case .notification(let note):
                let user = String(decoding: note.payload, as: UTF8.self)
                cache.users[user] = nil
                announce("forgot \(user)")
            case .gap:
                // It may have been any of them.
                cache.users = [:]
                announce("forgot all")
            }
        }
    }

    /// Performs a command of the user's.
    func perform(_ command: String) {
        let words = command.split(separator: " ", maxSplits: 2).map(String.init)
        switch words.first {
        case "get" where words.count == 2: get(words[1])
        case "set" where words.count == 3: set(words[1], words[2])
        default: log("commands: get USER, set USER NAME")
        }
    }

    private func get(_ user: String) {
        if let known = cache.users[user] { return announce("\(user) is \(known) (cached)") }
        guard let read = read(user) else { return announce("\(user) is nobody") }
        // Before the subscription is confirmed, nobody would tell that the cache is out of date.
        if observation?.isConfirmed == true { cache.users[user] = read }
        announce("\(user) is \(read) (read)")
    }

    private func set(_ user: String, _ name: String) {
        guard isName(user), let file = fopen("\(database)/\(user)", "w") else {
            return log("\(user): cannot be written")
        }
        fputs(name, file)
        fclose(file)
        // Only now that every worker would read the new name.
        do { try center.post("user.changed", payload: Array(user.utf8), whenFull: .dropOldest) } catch {
            log("\(error)")
        }
    }

    private func read(_ user: String) -> String? {
        guard isName(user), let file = fopen("\(database)/\(user)", "r") else { return nil }
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 256)
        let count = fread(&bytes, 1, bytes.count, file)
        return String(decoding: bytes.prefix(count), as: UTF8.self)
    }

    /// True if a user's name leads to no other file.
    private func isName(_ user: String) -> Bool {
        user.utf8.allSatisfy { $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: ".") }
    }
}

/// The cached users.
///
/// `@unchecked Sendable`: only the main thread touches it, on which the commands are read and the observer is called.
private final class Cache: @unchecked Sendable {
    var users: [String: String] = [:]
}
