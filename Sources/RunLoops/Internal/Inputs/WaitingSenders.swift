/// The senders that wait at a full port, in the order in which they came.
struct WaitingSenders {
    /// One who waits, a thread or a task, with what it wants to send.
    final class Sender: Sendable {
        let chain: Mailbox.Chain
        /// Called, without a lock, when it has left the line by what others did.
        let tell: @Sendable (Outcome) -> Void

        init(_ chain: Mailbox.Chain, tell: @escaping @Sendable (Outcome) -> Void) {
            self.chain = chain
            self.tell = tell
        }
    }

    /// What became of a sender that has left the line.
    enum Outcome {
        case sent
        case closed
        /// Its message is its own: it would have waited for ever.
        case refused
    }

    private var line: [Sender] = []
    /// What became of those that have left the line by what others did.
    ///
    /// Each of them must still call ``leave(_:)``, which forgets it.
    private var outcomes: [ObjectIdentifier: Outcome] = [:]

    var count: Int { line.count }
    var first: Sender? { line.first }

    mutating func append(_ sender: Sender) { line.append(sender) }

    /// The first sender's message has been queued.
    mutating func firstWasSent() -> Sender {
        let sender = line.removeFirst()
        outcomes[ObjectIdentifier(sender)] = .sent
        return sender
    }

    /// The port has died.
    mutating func closeAll() -> [Sender] {
        let all = line
        for sender in all { outcomes[ObjectIdentifier(sender)] = .closed }
        line = []
        return all
    }

    func contains(_ sender: Sender) -> Bool { line.contains { $0 === sender } }

    /// A sender is told to stop waiting.
    ///
    /// - Returns: False if it was not in the line any more.
    mutating func refuse(_ sender: Sender) -> Bool {
        guard let index = line.firstIndex(where: { $0 === sender }) else { return false }
        line.remove(at: index)
        outcomes[ObjectIdentifier(sender)] = .refused
        return true
    }

    /// A sender stops waiting.
    ///
    /// - Returns: What had become of it, or nil if it was in the line still: then its message is its own.
    mutating func leave(_ sender: Sender) -> Outcome? {
        if let outcome = outcomes.removeValue(forKey: ObjectIdentifier(sender)) { return outcome }
        line.removeAll { $0 === sender }
        return nil
    }
}
