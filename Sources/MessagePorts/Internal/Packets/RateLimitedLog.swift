internal import RunLoops

/// Reports the packets and peers that a port or connection has refused.
///
/// Only the first refusals are reported, because the peers decide how many there are.
final class RateLimitedLog: Sendable {
    /// The largest number of lines that are reported.
    static let mostLines = 16

    private let count = Guarded(0)

    /// Reports a line, if fewer than ``mostLines`` were reported before.
    ///
    /// The line and its details are made only if the line is reported.
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

    /// The details of a report about a port.
    static func details(ofPort name: PortName, peer: PeerCredentials?) -> [String: String] {
        var details = ["port": "\(name)"]
        if let peer {
            details["peer-process"] = "\(peer.processID)"
            details["peer-user"] = "\(peer.userID)"
        }
        return details
    }
}
