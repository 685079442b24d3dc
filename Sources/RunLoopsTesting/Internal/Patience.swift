internal import Glibc

/// How long a simulation waits for the world outside, when nothing in it can go on.
///
/// A thread that is no part of it may still send something, and a task may still run: so it waits a while, for real.
struct Patience {
    private let length: Duration
    private var end: ContinuousClock.Instant?

    init(_ length: Duration) { self.length = length }

    /// Waits a little.
    ///
    /// - Parameters:
    ///   - situation: What there is.
    ///   - names: Whose threads there are.
    mutating func wait(_ situation: String, _ names: [String]) {
        let end = end ?? .now + length
        self.end = end
        if .now >= end {
            fatalError(
                "LoopSimulation: \(situation) (\(names.joined(separator: ", "))); set a deadline, or have somebody send what is waited for"
            )
        }
        usleep(1_000)
    }
}
