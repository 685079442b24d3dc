/// How long something is left alone that was in vain, and of which nobody tells when it will not be: each time twice as
/// long, up to an end.
struct GrowingPause: Hashable, Sendable {
    private let shortest: Duration
    private let longest: Duration
    private var next: Duration

    init(from shortest: Duration, to longest: Duration) {
        self.shortest = shortest
        self.longest = longest
        next = shortest
    }

    /// It was in vain: how long to wait before it is tried again.
    mutating func begin() -> Duration {
        defer { next = min(next * 2, longest) }
        return next
    }

    /// It was not in vain, or there is hope.
    mutating func reset() { next = shortest }

    /// Between two looks whether there is a descriptor for a connection.
    ///
    /// A listener with somebody waiting stays readable, so a loop that watched it on would spin. Whoever waits loses
    /// nothing by the pause: its connection is in the kernel's queue, and what it sends is kept. A spare descriptor, given
    /// up to accept and close, would turn honest clients away instead.
    static var accepting: GrowingPause { GrowingPause(from: .milliseconds(10), to: .seconds(1)) }

    /// Between two tries to send what the kernel has no means for.
    static var sending: GrowingPause { GrowingPause(from: .microseconds(100), to: .milliseconds(20)) }

    /// Between two tries to send replies that were kept because the kernel had no means for them.
    static var resending: GrowingPause { GrowingPause(from: .milliseconds(1), to: .seconds(1)) }
}
