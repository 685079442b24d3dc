internal import DistributedNotifications
internal import RunLoops

/// The facts about the server that it gives in reply to the INFO command.
struct ServerInfo: Hashable, Sendable {
    /// The identity of the server's run, which changes with each start.
    let run: String
    /// The replication ID, which identifies the history of the data and changes with a failover.
    let replication: String
    let isReplica: Bool
    let version: ForeignText

    /// The maximum number of bytes of a reply to the INFO command; servers send some thousands.
    static let mostBytes = 262_144

    /// Reads the facts from the reply to the INFO command.
    ///
    /// Only CR and LF end a line.
    init(_ text: some Collection<UInt8>) {
        var values: [String: String] = [:]
        for line in text.split(whereSeparator: { $0 == 10 || $0 == 13 }) {
            guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { continue }
            let name = String(decoding: line[..<colon], as: UTF8.self)
            values[name] = String(decoding: line[line.index(after: colon)...], as: UTF8.self)
        }
        run = values["run_id"] ?? ""
        replication = values["master_replid"] ?? ""
        isReplica = values["role"] == "slave" || values["role"] == "replica"
        version = ForeignText(values["redis_version"] ?? "", atMost: 40)
    }

    /// The reason that the server cannot be used, or nil if it can.
    var flaw: String? {
        if run.isEmpty { return "it does not say with INFO which server it is" }
        if isReplica { return "it is a replica, which accepts no posts; connect to its primary" }
        let numbers = version.description.split(separator: ".").compactMap { OutsideNumber(decimal: $0.utf8) }
        guard numbers.count >= 2 else { return "its version is \"\(version)\", which is no version" }
        if (numbers[0].value, numbers[1].value) < (6, 2) {
            return "it is of version \(version), and 6.2 or later is needed"
        }
        return nil
    }
}
