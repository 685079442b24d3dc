/// The number of messages that a port holds before its senders wait.
///
/// ```swift
/// let commands = Port<Command>(queueLimit: 16)
/// let events = Port<Event>(queueLimit: .unlimited)
/// ```
///
/// > Thread safety: a value.
public struct PortQueueLimit: Hashable, Sendable, ExpressibleByIntegerLiteral {
    /// The number of messages, or nil for no limit.
    public let count: Int?

    private init(count: Int?) { self.count = count }

    /// No limit: a sender never waits, and if the receiver is too slow, the queue grows.
    public static let unlimited = PortQueueLimit(count: nil)

    /// Makes a limit.
    ///
    /// - Parameter count: The number of messages, 1 to 1,000,000. Any other number ends the program.
    public init(_ count: Int) {
        if !(1...1_000_000).contains(count) {
            misuse(
                "PortQueueLimit: \(count) is not between 1 and 1,000,000; use .unlimited for a port without limit"
            )
        }
        self.count = count
    }

    /// Makes a limit.
    ///
    /// - Parameter value: The number of messages, 1 to 1,000,000. Any other number ends the program.
    public init(integerLiteral value: Int) { self.init(value) }
}

extension PortQueueLimit: CustomStringConvertible {
    /// The number, or `unlimited`.
    public var description: String { count.map { "\($0)" } ?? "unlimited" }
}
