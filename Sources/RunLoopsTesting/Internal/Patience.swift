internal import Glibc

/// The time that is left for a simulation to wait for an event from outside.
///
/// A simulation waits in this way while none of its own threads can continue: a thread outside of the simulation may still send a
/// message, and a task may still run. The time is measured with the system's clock.
struct Patience {
    private let length: Duration
    private var end: ContinuousClock.Instant?

    init(_ length: Duration) { self.length = length }

    /// Waits for a millisecond, or ends the program with a message if no time is left.
    ///
    /// - Parameters:
    ///   - situation: The part of the message that says why the simulation cannot continue.
    ///   - names: The names of the waiting threads, which the message lists.
    mutating func wait(_ situation: String, _ names: [String]) {
        let end = end ?? .now + length
        self.end = end
        if .now >= end {
            fatalError(
                "RunLoopSimulation: \(situation) (\(names.joined(separator: ", "))); set a deadline, or send what they wait for"
            )
        }
        usleep(1_000)
    }
}
