internal import ArgumentParser

/// Isolates what ports cost: to send and to receive, with a loop and without one, and to ask and be answered.
///
/// Each part says what to read first.
struct PortsFamily: Family {
    static let name = "ports"
    static let summary = "Requests and their answers, messages to loops and port sets, and between processes."

    func measure(in session: Session) throws -> Chapter {
        defer { ThreadNumber.current.pin(to: session.machine.processors) }
        return Chapter(Self.name, [try RoundTrips(), try PortStreams(), try Packets()], in: session)
    }
}
