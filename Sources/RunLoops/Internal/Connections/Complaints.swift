/// Tells whoever runs the program what a port has turned away, but not without end: others decide how much that is.
final class Complaints: Sendable {
    /// How many lines are written.
    static let most = 16

    private let count = Guarded(0)

    func say(_ line: String) {
        let number = count.withLock { count in
            if count <= Complaints.most { count += 1 }
            return count
        }
        if number < Complaints.most { RunLoop.say(line) }
        if number == Complaints.most { RunLoop.say("\(line); more of this port is counted, and not written") }
    }
}
