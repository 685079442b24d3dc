internal import DequeModule
internal import RunLoops

/// The order in which a connection tries the addresses of a host, in the manner of RFC 8305.
///
/// The race holds no sockets: its owner makes the attempts, and records the results.
///
/// The address families alternate, beginning with the family of the first address. An attempt begins a quarter of a second after
/// the one before it, or as soon as an attempt fails.
struct AddressRace {
    private var waiting: Deque<SocketAddress>

    /// The number of attempts under way.
    private(set) var running = 0

    /// The earliest moment at which the next attempt may begin; nil if it may begin immediately.
    private var next: Moment?

    /// The time from the beginning of one attempt to the beginning of the next, in nanoseconds.
    private static var pause: Int64 { 250_000_000 }

    /// The time before another attempt at an address that could not take a connection yet, in nanoseconds.
    private static var busyPause: Int64 { 10_000_000 }

    /// Creates a race in which no address has been tried yet.
    ///
    /// - Parameter addresses: The addresses, in the order in which the resolver prefers them.
    init(_ addresses: [SocketAddress]) {
        guard let first = addresses.first else {
            waiting = []
            return
        }
        var same = Deque(addresses.filter { $0.isIPv4 == first.isIPv4 })
        var other = Deque(addresses.filter { $0.isIPv4 != first.isIPv4 })
        waiting = []
        while !same.isEmpty || !other.isEmpty {
            if let address = same.popFirst() { waiting.append(address) }
            if let address = other.popFirst() { waiting.append(address) }
        }
    }

    /// Removes and returns the next address if it should be tried now; returns nil otherwise.
    mutating func takeNext(at now: Moment) -> SocketAddress? {
        if let next, now < next { return nil }
        guard let address = waiting.popFirst() else { return nil }
        running += 1
        next = now.advanced(by: AddressRace.pause)
        return address
    }

    /// Records that an attempt has failed, so that the next attempt need not wait.
    mutating func didFail() {
        running -= 1
        next = nil
    }

    /// Records that an address cannot take a connection yet, and schedules another attempt at that address.
    mutating func isBusy(_ address: SocketAddress, at now: Moment) {
        running -= 1
        waiting.prepend(address)
        next = now.advanced(by: AddressRace.busyPause)
    }

    /// True if all addresses have failed.
    var isLost: Bool { waiting.isEmpty && running == 0 }

    /// The moment at which the next attempt begins; nil if no address is left, or the next attempt may begin immediately.
    var nextStart: Moment? { waiting.isEmpty ? nil : next }
}
