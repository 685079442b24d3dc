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

    /// Whether nothing is under way; asked on the loop's thread.
    var isEmpty: Bool { sent.load(ordering: .acquiring) == arrived.load(ordering: .relaxed) }

    /// Sends a delivery to the loop.
    ///
    /// If the loop has ended, the delivery goes, and counts itself.
    func send(_ delivery: Delivery, to runLoop: RunLoop) {
        sent.wrappingAdd(1, ordering: .relaxed)
        // One capture: so the block needs no memory of its own.
        let isSent =
            isCommon
            ? runLoop.perform { delivery.arrive() } : runLoop.perform(inModes: modes) { delivery.arrive() }
        if !isSent { sent.wrappingSubtract(1, ordering: .relaxed) }
    }

    func hasArrived() { arrived.store(arrived.load(ordering: .relaxed) &+ 1, ordering: .relaxed) }
}

/// One turn of an observer, on its way in the loop's queue, which alone holds it.
final class Delivery: Sendable {
    private let observer: RedirectedObserver
    /// What is delivered; nil for the next one of the observer's account.
    private let notification: Notification?

    /// `nonisolated(unsafe)`: written by the loop's thread, and read when nobody else has the delivery any more.
    nonisolated(unsafe) private var hasArrived = false

    init(_ notification: Notification?, _ observer: RedirectedObserver) {
        self.notification = notification
        self.observer = observer
    }

    func arrive() {
        unsafe hasArrived = true
        observer.lane.hasArrived()
        if let notification { observer.deliver(notification) } else { observer.deliverNext() }
    }

    deinit {
        if unsafe hasArrived { return }
        if let notification { observer.lost(notification) } else { observer.lostNext() }
    }
}
