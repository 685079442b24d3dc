internal import DistributedNotifications

/// The facts about the server that it gives in reply to the INFO command.
struct ServerInfo: Hashable, Sendable {
    /// The identity of the server's run, which changes with each start.
    let run: String
    /// The replication ID, which identifies the history of the data and changes with a failover.
    let replication: String
    let isReplica: Bool
    let version: String

    /// Reads the facts from the reply to the INFO command.
    init(_ text: String) {
        var values: [Substring: Substring] = [:]
        for line in text.split(whereSeparator: \.isNewline) {
            let parts = line.split(separator: ":", maxSplits: 1)
            if parts.count == 2 { values[parts[0]] = parts[1] }
        }
        run = String(values["run_id"] ?? "")
        replication = String(values["master_replid"] ?? "")
        isReplica = values["role"] == "slave" || values["role"] == "replica"
        version = String(values["redis_version"] ?? "")
    }

    /// The reason that the server cannot be used, or nil if it can.
    var flaw: String? {
        if run.isEmpty { return "it does not say with INFO which server it is" }
        if isReplica { return "it is a replica, which accepts no posts; connect to its primary" }
        let numbers = version.split(separator: ".").compactMap { Int($0) }
        guard numbers.count >= 2 else { return "its version is \"\(version)\", which is no version" }
        if (numbers[0], numbers[1]) < (6, 2) {
            return "it is of version \(version), and 6.2 or later is needed"
        }
        return nil
    }
}
