internal import RunLoops
internal import Synchronization

/// The route by which notifications reach one loop; all observers that are called in the same modes share it.
///
/// The lane counts the deliveries that are under way, so that a post on the loop's own thread does not overtake them.
final class DeliveryLane: Sendable {
    let modes: [RunLoop.Mode]
    /// True if the lane's only mode is `.common`, for which sending is cheaper.
    private let isCommon: Bool

    /// The number of deliveries that threads have sent, or are about to send.
    private let sent = Atomic<Int>(0)
    /// Padding that keeps `arrived` off the cache lines that posters write.
    ///
    /// The padding fills two lines, because processors fetch cache lines in pairs.
    private let padding = InlineArray<16, UInt64>(repeating: 0)
    /// The number of deliveries that have arrived; only the loop's thread writes it.
    private let arrived = Atomic<Int>(0)

    init(_ modes: [RunLoop.Mode]) {
        self.modes = modes
        isCommon = modes == [.common]
    }

    /// True if the calling thread finds no delivery under way in this lane.
    var isEmpty: Bool {
        // `sent` is loaded first, so a delivery that is sent between the two loads is not counted: it comes after the caller's
        // post. Its arrival cannot be mistaken for that of an earlier delivery, because deliveries arrive in order.
        let sent = sent.load(ordering: .acquiring)
        return sent == arrived.load(ordering: .acquiring)
    }

    /// Counts a delivery that the caller is about to send.
    @inline(__always)
    func announce() { sent.wrappingAdd(1, ordering: .relaxed) }

    /// Sends the loop a delivery that ``announce()`` has counted.
    ///
    /// - Parameters:
    ///   - parcel: The delivery.
    ///   - runLoop: The loop.
    ///   - end: A function that moves the delivery out of memory. The first argument is the address of the delivery. The second
    ///     argument is true if the loop's thread calls the function, and false if the loop has ended.
    @inline(__always)
    func sendAnnounced<Parcel: Sendable & ~Copyable>(
        _ parcel: consuming Parcel, to runLoop: RunLoop,
        _ end: @convention(c) (UnsafeMutableRawPointer, Bool) -> Void
    ) {
        // Safe: `end`, which the caller passes, knows the type of the parcel.
        let isSent = unsafe runLoop.send(parcel, inModes: isCommon ? nil : modes, end)
        if !isSent { sent.wrappingSubtract(1, ordering: .relaxed) }
    }

    /// Runs a block on the loop after all deliveries that were sent earlier have arrived.
    ///
    /// - Returns: False if the loop has ended, so that the block will not run.
    @inline(__always)
    @discardableResult
    func perform(on runLoop: RunLoop, _ block: @escaping @Sendable () -> Void) -> Bool {
        runLoop.performOwn(inModes: isCommon ? nil : modes, block)
    }

    /// Counts a delivery as arrived.
    ///
    /// A delivery can lead to several calls of the handler. Do not count it as arrived before the last of these calls is about to
    /// begin.
    func hasArrived() { arrived.store(arrived.load(ordering: .relaxed) &+ 1, ordering: .releasing) }
}
