import Foundation
import Testing

/// The tests of the programs, which run one after the other, so that each has the machine for itself.
@Suite(.serialized) enum Examples {
    /// True if the tests use the full counts of connections, lines and bytes, which takes minutes.
    static let isFull = ProcessInfo.processInfo.environment["EXAMPLES_FULL"] == "1"

    /// Chooses a count.
    ///
    /// - Parameters:
    ///   - full: The count for `EXAMPLES_FULL=1`.
    ///   - small: The count otherwise.
    /// - Returns: The chosen count.
    static func count(full: Int, small: Int) -> Int { isFull ? full : small }
}

/// A failed system call, or an expectation of the helpers that was not met in time.
struct Failure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }

    /// A system call that has just failed.
    init(call: String) { description = "\(call): \(String(cString: strerror(errno)))" }
}

/// The time after which a wait counts as hung.
let hangTime = Duration.seconds(30)

/// Waits until a condition holds for which there is no event, such as the kernel's count for another process.
///
/// - Parameters:
///   - what: The condition in words.
///   - condition: The condition.
/// - Throws: ``Failure`` if the condition does not hold in time.
func wait(until what: String, _ condition: () throws -> Bool) throws {
    let deadline = ContinuousClock.now + hangTime
    while try !condition() {
        if ContinuousClock.now > deadline { throw Failure("not in time: \(what)") }
        usleep(2_000)
    }
}
