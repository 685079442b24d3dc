internal import RunLoops

/// The log of one port or connection, which reports events such as refused packets and peers.
///
/// The log has a limit on the number of lines. Without the limit, the peers would decide how many lines are reported.
final class RateLimitedLog: Sendable {
    /// The maximum number of lines that the log reports.
    static let mostLines = 16

    private let count = Guarded(0)

    /// Reports an event in one line, unless the log has reached ``mostLines``, its limit.
    ///
    /// The texts of the line and its details are made only if the line is reported.
    func report(
        _ line: @autoclosure () -> String, _ details: @autoclosure () -> [String: String] = [:]
    ) {
        let number = count.withLock { count in
            if count <= RateLimitedLog.mostLines { count += 1 }
            return count
        }
        if number > RateLimitedLog.mostLines { return }
        let isLast = number == RateLimitedLog.mostLines
        let end = isLast ? "; further events of this port are counted, and not reported" : ""
        RunLoopDiagnostics.report(line() + end, details())
    }

    /// Returns the details of an event of a port: the port's name, and the process and user of the peer.
    static func details(ofPort name: PortName, peer: PeerCredentials?) -> [String: String] {
        var details = ["port": "\(name)"]
        if let peer {
            details["peer-process"] = "\(peer.processID)"
            details["peer-user"] = "\(peer.userID)"
        }
        return details
    }
}
