/// How long a listener is left alone after the kernel had no descriptor for a connection.
///
/// A listener with somebody waiting stays readable, so a loop that watched it on would spin. Whoever waits loses
/// nothing by the pause: its connection is in the kernel's queue, and what it sends is kept. A spare descriptor, given up to
/// accept and close, would turn honest clients away instead.
struct AcceptPause: Hashable, Sendable {
    static let shortest = Duration.milliseconds(10)
    static let longest = Duration.seconds(1)

    private var next = AcceptPause.shortest

    /// The kernel had none: how long to wait before asking again, each time twice as long.
    mutating func begin() -> Duration {
        defer { next = min(next * 2, AcceptPause.longest) }
        return next
    }

    /// A connection was taken, or one that this process had has been closed.
    mutating func reset() { next = AcceptPause.shortest }
}
