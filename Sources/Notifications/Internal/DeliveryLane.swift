internal import RunLoops
internal import Synchronization

/// The way to one loop for all observers that are called in the same modes.
///
/// It knows whether something is under way, so that what the loop's own thread posts does not overtake it.
final class DeliveryLane: Sendable {
    let modes: [RunLoop.Mode]
    /// Whether these are the common modes, for which a block is sent more cheaply.
    private let isCommon: Bool

    /// How many were sent, by any thread.
    private let sent = Atomic<Int>(0)
    /// Keeps what the loop writes off the cache lines that posters write: two lines, because processors fetch them in pairs.
    private let padding = InlineArray<16, UInt64>(repeating: 0)
    /// How many have arrived; written by the loop's thread only.
    private let arrived = Atomic<Int>(0)

    init(_ modes: [RunLoop.Mode]) {
        self.modes = modes
        isCommon = modes == [.common]
    }

    /// Whether nothing is under way of what was sent before, as far as the calling thread knows.
    var isEmpty: Bool {
        // In this order: what is sent meanwhile comes behind what is asked for, and cannot be taken for it.
        let sent = sent.load(ordering: .acquiring)
        return sent == arrived.load(ordering: .acquiring)
    }

    /// Counts something as sent, which is sent next.
    @inline(__always)
    func announce() { sent.wrappingAdd(1, ordering: .relaxed) }

    /// Sends the loop what was announced.
    ///
    /// - Parameters:
    ///   - parcel: What is sent.
    ///   - runLoop: The loop.
    ///   - end: Given the place of the parcel, which it takes out: with true on the loop's thread; with false if the loop has
    ///     ended.
    @inline(__always)
    func sendAnnounced<Parcel: Sendable & ~Copyable>(
        _ parcel: consuming Parcel, to runLoop: RunLoop,
        _ end: @convention(c) (UnsafeMutableRawPointer, Bool) -> Void
    ) {
        // Safe: the caller's function knows what lies there.
        let isSent = unsafe runLoop.send(parcel, inModes: isCommon ? nil : modes, end)
        if !isSent { sent.wrappingSubtract(1, ordering: .relaxed) }
    }

    /// Has a block run on the loop when all that was sent before has arrived.
    @inline(__always)
    @discardableResult
    func perform(on runLoop: RunLoop, _ block: @escaping @Sendable () -> Void) -> Bool {
        isCommon ? runLoop.perform(block) : runLoop.perform(inModes: modes, block)
    }

    /// One of those that were sent has arrived, and nothing of it is left to deliver but what is delivered next.
    func hasArrived() { arrived.store(arrived.load(ordering: .relaxed) &+ 1, ordering: .releasing) }
}
