import DistributedNotifications
import Glibc
import RunLoops
import ServerSupport

/// The users of a database, with a cache that forgets users that another process has changed.
///
/// Commands and notifications are served on the main thread, one after the other. So no notification comes between reading a user
/// and adding the user to the cache.
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

    /// Begins to observe changes.
    func begin() {
        observation = center.addObserver(forName: "user.changed", on: .main) { [cache] event in
            switch event {
            case .notification(let note):
                let user = String(decoding: note.payload, as: UTF8.self)
                cache.users[user] = nil
                announce("forgot \(user)")
            case .gap:
                // The missing notifications can be about any user.
                cache.users = [:]
                announce("forgot all")
            }
        }
    }

    /// Performs a command.
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
        // Before the subscription is confirmed, no notification would tell that the cached user is out of date.
        if observation?.isConfirmed == true { cache.users[user] = read }
        announce("\(user) is \(read) (read)")
    }

    private func set(_ user: String, _ name: String) {
        guard isName(user), let file = fopen("\(database)/\(user)", "w") else {
            return log("\(user): cannot be written")
        }
        fputs(name, file)
        fclose(file)
        // Posts after the write, so that every worker reads the new name.
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

    /// True if a user's name leads to no file outside the database.
    private func isName(_ user: String) -> Bool {
        user.utf8.allSatisfy { $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: ".") }
    }
}

/// The cached users.
///
/// `@unchecked Sendable` is safe because only the main thread uses the cache: it reads the commands and calls the observer.
private final class Cache: @unchecked Sendable {
    var users: [String: String] = [:]
}
