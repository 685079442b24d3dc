internal import RunLoops
internal import Synchronization

/// What a poster that waits for its observers holds: open when every delivery of its notification is over.
final class Receipt: Sendable {
    /// Deliveries under way, and the post itself.
    private let open = Atomic<Int>(1)
    private let gate = ThreadGate()

    /// Some delivery is to be made on the very thread that waits.
    let isForPoster = Atomic<Bool>(false)
    /// Some delivery was let go of, because its loop has ended.
    let wasLost = Atomic<Bool>(false)

    func enter() { open.add(1, ordering: .relaxed) }

    func leave() {
        if open.subtract(1, ordering: .acquiringAndReleasing).newValue == 0 { gate.open() }
    }

    func wait(until deadline: ContinuousClock.Instant) -> Bool { gate.wait(until: deadline) }
}
