internal import Synchronization

/// A signal without contents, from any number of threads to one receiver, such as a loop.
///
/// Rings that the receiver has not answered merge into one. The state of the bell is a single integer, which also records that the
/// receiver must be woken. To be woken by the next ring, the receiver arms the bell with a node. If the bell is armed, ``ring()``
/// returns that node, and the caller must then signal the receiver. If the bell is not armed, a ring costs only one atomic
/// exchange.
///
/// > Thread safety: ``ring()`` and ``nudge()`` from any thread; all other members from the receiver's thread only.
struct Doorbell: ~Copyable, Sendable {
    private static let quiet: UInt = 0
    private static let rung: UInt = 1
    private static let armedBit: UInt = 2
    private static let nudged: UInt = 4

    /// The state of the bell: quiet, nudged, rung, or armed.
    ///
    /// If the bell is armed, the value is a node's address combined with the armed bit.
    private let word = Atomic<UInt>(Doorbell.quiet)

    /// Rings the bell.
    ///
    /// - Returns: The node that the bell was armed with, which the caller now owns; nil if the bell was not armed.
    func ring() -> Node? {
        // The word is written even if the bell was rung already. A load alone would be cheaper, but wrong: the receiver that
        // answers this ring could then miss the caller's earlier stores.
        racePoint(.rings)
        return armedNode(word.exchange(Doorbell.rung, ordering: .acquiringAndReleasing))
    }

    /// Makes the receiver check for work, such as a notice, without ringing the bell.
    ///
    /// - Returns: The node that the bell was armed with, which the caller now owns; nil if the bell was not armed.
    func nudge() -> Node? {
        racePoint(.nudgeLooks)
        var seen = word.load(ordering: .relaxed)
        while true {
            racePoint(.nudgeExchanges)
            // A ring stays a ring, because the receiver that answers the ring checks for work as well. The ring is written again
            // for the reason given in `ring`.
            let desired = seen == Doorbell.rung ? Doorbell.rung : Doorbell.nudged
            let (exchanged, original) = word.weakCompareExchange(
                expected: seen, desired: desired,
                successOrdering: .acquiringAndReleasing, failureOrdering: .relaxed)
            if exchanged { return armedNode(seen) }
            seen = original
        }
    }

    /// True if the bell was nudged or rung since it was last armed.
    ///
    /// A single load tests for both states. With two loads, the bell could change from nudged to rung between them. Then a load that
    /// tests for rung would miss the change, and the following load that tests for nudged would find the bell rung: both fail.
    var isNudgedOrRung: Bool {
        racePoint(.bellLooks)
        let seen = word.load(ordering: .acquiring)
        return seen == Doorbell.nudged || seen == Doorbell.rung
    }

    /// True if the bell was rung since it was last armed.
    var isRung: Bool { word.load(ordering: .acquiring) == Doorbell.rung }

    /// Answers a ring, if there is one, and arms the bell, so that the next ring returns the given node.
    ///
    /// After the call, the receiver sees all stores that senders made before they rang.
    ///
    /// - Returns: True if there was a ring to answer.
    @discardableResult
    func arm(with node: Node) -> Bool {
        let armed = unsafe UInt(bitPattern: node.address) | Doorbell.armedBit
        racePoint(.bellArms)
        let before = word.exchange(armed, ordering: .acquiringAndReleasing)
        precondition(before & Doorbell.armedBit == 0, "a bell is armed once until it is rung")
        return before == Doorbell.rung
    }

    /// Arms the bell with a node, unless the bell was rung or nudged.
    ///
    /// - Returns: False if the bell was rung or nudged.
    func armUnlessRung(with node: Node) -> Bool {
        let armed = unsafe UInt(bitPattern: node.address) | Doorbell.armedBit
        racePoint(.bellArmsUnlessRung)
        return word.compareExchange(
            expected: Doorbell.quiet, desired: armed, ordering: .acquiringAndReleasing
        ).exchanged
    }

    /// Disarms the bell.
    ///
    /// If the bell is not armed, it does not change.
    ///
    /// - Returns: The node that the bell was armed with; nil if the bell was not armed.
    func disarm() -> Node? {
        racePoint(.bellDisarmLooks)
        let seen = word.load(ordering: .relaxed)
        guard let node = armedNode(seen) else { return nil }
        racePoint(.bellDisarmExchanges)
        let exchange = word.compareExchange(
            expected: seen, desired: Doorbell.quiet, ordering: .acquiringAndReleasing)
        return exchange.exchanged ? node : nil
    }

    private func armedNode(_ bits: UInt) -> Node? {
        if bits & Doorbell.armedBit == 0 { return nil }
        // Safe: the bell was armed with a node's address, whose low bits are zero.
        return unsafe UnsafeMutableRawPointer(bitPattern: bits & ~Doorbell.armedBit).map { unsafe Node($0) }
    }
}
