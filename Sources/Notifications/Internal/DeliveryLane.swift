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
    /// Keeps what the loop writes off the cache lines that posters write.
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

    /// Sends a notification to the loop.
    ///
    /// If the loop has ended, it is let go of.
    @inline(__always)
    func send(_ delivery: consuming Delivery, to runLoop: RunLoop) {
        sent.wrappingAdd(1, ordering: .relaxed)
        // Safe: the function is given what it expects, the place of the delivery.
        let isSent = unsafe runLoop.send(delivery, inModes: isCommon ? nil : modes) { place, hasArrived in
            unsafe Delivery.end(at: place, hasArrived: hasArrived)
        }
        if !isSent { sent.wrappingSubtract(1, ordering: .relaxed) }
    }

    /// Counts a turn as sent, which is sent next.
    func announceTurn() { sent.wrappingAdd(1, ordering: .relaxed) }

    /// Sends a turn to the loop that was announced.
    ///
    /// If the loop has ended, it is let go of.
    ///
    /// - Parameters:
    ///   - runLoop: The loop.
    ///   - turn: Calls ``hasArrived()`` first. With one capture it needs no memory of its own.
    @inline(__always)
    func sendAnnounced(to runLoop: RunLoop, _ turn: @escaping @Sendable () -> Void) {
        if !perform(on: runLoop, turn) { sent.wrappingSubtract(1, ordering: .relaxed) }
    }

    /// Has a block run on the loop when all that was sent before has arrived.
    @inline(__always)
    @discardableResult
    func perform(on runLoop: RunLoop, _ block: @escaping @Sendable () -> Void) -> Bool {
        isCommon ? runLoop.perform(block) : runLoop.perform(inModes: modes, block)
    }

    func hasArrived() { arrived.store(arrived.load(ordering: .relaxed) &+ 1, ordering: .releasing) }
}
