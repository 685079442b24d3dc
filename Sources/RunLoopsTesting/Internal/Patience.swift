internal import Glibc

/// A wait of limited length for an event from outside of a simulation, while none of the simulation's threads can continue.
///
/// A thread outside of the simulation may still send a message, and a task may still run. So the simulation waits for some time,
/// which it measures with the system's clock.
struct Patience {
    private let length: Duration
    private var end: ContinuousClock.Instant?

    init(_ length: Duration) { self.length = length }

    /// Waits for a millisecond, or ends the program if the time is up.
    ///
    /// - Parameters:
    ///   - situation: The state of the simulation, for the message.
    ///   - names: The names of the threads, for the message.
    mutating func wait(_ situation: String, _ names: [String]) {
        let end = end ?? .now + length
        self.end = end
        if .now >= end {
            fatalError(
                "LoopSimulation: \(situation) (\(names.joined(separator: ", "))); set a deadline, or send what they wait for"
            )
        }
        usleep(1_000)
    }
}
