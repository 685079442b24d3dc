import Foundation
import Testing

/// The tests of the programs, which run one after the other: each has the machine for itself.
@Suite(.serialized) enum Examples {
    /// True if the tests make the full counts of connections, lines and bytes, which takes minutes.
    static let isFull = ProcessInfo.processInfo.environment["EXAMPLES_FULL"] == "1"

    /// Chooses a count.
    ///
    /// - Parameters:
    ///   - full: The count for `EXAMPLES_FULL=1`.
    ///   - small: The count otherwise.
    /// - Returns: One of the two.
    static func count(full: Int, small: Int) -> Int { isFull ? full : small }
}

/// An expectation of the helpers that did not come true in time, or a system call that failed.
struct Failure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }

    /// A system call that has just failed.
    init(call: String) { description = "\(call): \(String(cString: strerror(errno)))" }
}

/// The time after which a wait is taken to hang.
let hangTime = Duration.seconds(30)

/// Waits until a condition that no event tells holds, such as a count that the kernel keeps of another process.
///
/// - Parameters:
///   - what: The condition in words.
///   - condition: The condition.
/// - Throws: ``Failure`` if it does not hold in time.
func wait(until what: String, _ condition: () throws -> Bool) throws {
    let deadline = ContinuousClock.now + hangTime
    while try !condition() {
        if ContinuousClock.now > deadline { throw Failure("not in time: \(what)") }
        usleep(2_000)
    }
}
