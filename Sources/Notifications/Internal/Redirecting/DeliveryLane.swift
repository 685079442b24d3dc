internal import RunLoops
internal import Synchronization

/// The way to one loop for all observers that are called in the same modes.
///
/// It counts the deliveries that are under way, so that a post on the loop's own thread does not overtake them.
final class DeliveryLane: Sendable {
    let modes: [RunLoop.Mode]
    /// True for the common modes: sending to them is cheaper.
    private let isCommon: Bool

    /// The number of deliveries sent, by any thread.
    private let sent = Atomic<Int>(0)
    /// Keeps `arrived` off the cache lines that posters write: two lines, because processors fetch them in pairs.
    private let padding = InlineArray<16, UInt64>(repeating: 0)
    /// The number of deliveries that have arrived; only the loop's thread writes it.
    private let arrived = Atomic<Int>(0)

    init(_ modes: [RunLoop.Mode]) {
        self.modes = modes
        isCommon = modes == [.common]
    }

    /// True if everything that the calling thread knows to be sent has arrived.
    var isEmpty: Bool {
        // `sent` is loaded first: a delivery that is sent between the two loads comes behind the caller's post and does not
        // count. Its arrival cannot stand for that of an earlier delivery, because they arrive in order.
        let sent = sent.load(ordering: .acquiring)
        return sent == arrived.load(ordering: .acquiring)
    }

    /// Counts a delivery that is sent next.
    @inline(__always)
    func announce() { sent.wrappingAdd(1, ordering: .relaxed) }

    /// Sends the loop a delivery that was announced.
    ///
    /// - Parameters:
    ///   - parcel: The delivery.
    ///   - runLoop: The loop.
    ///   - end: Takes the delivery out of the address that it is given: with true on the loop's thread, with false if the
    ///     loop has ended.
    @inline(__always)
    func sendAnnounced<Parcel: Sendable & ~Copyable>(
        _ parcel: consuming Parcel, to runLoop: RunLoop,
        _ end: @convention(c) (UnsafeMutableRawPointer, Bool) -> Void
    ) {
        // Safe: the caller's function knows the type of the parcel.
        let isSent = unsafe runLoop.send(parcel, inModes: isCommon ? nil : modes, end)
        if !isSent { sent.wrappingSubtract(1, ordering: .relaxed) }
    }

    /// Runs a block on the loop after everything that was sent before has arrived.
    ///
    /// - Returns: False if the loop has ended, so that the block will not run.
    @inline(__always)
    @discardableResult
    func perform(on runLoop: RunLoop, _ block: @escaping @Sendable () -> Void) -> Bool {
        isCommon ? runLoop.perform(block) : runLoop.perform(inModes: modes, block)
    }

    /// Counts a delivery as arrived.
    ///
    /// Of all that it delivers, at most the last notification is still to be delivered.
    func hasArrived() { arrived.store(arrived.load(ordering: .relaxed) &+ 1, ordering: .releasing) }
}
