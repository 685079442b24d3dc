internal import RunLoops
internal import Synchronization

/// An object that delivers notifications on the thread of one loop, whichever thread posts them.
///
/// Each loop has one redirector for all observers and centers. The notifications for all of them share the loop's single queue, and
/// a post does not wake a loop that is already awake. Each observer receives the notifications of one posting thread in the order
/// in which that thread posted them. A post on the loop's own thread is delivered immediately if no notification waits for an
/// observer with the same modes; otherwise it waits its turn, so that it overtakes no earlier notification.
///
/// While the loop does not run, or runs in other modes, notifications wait. An observer alone does not keep a run going, but a
/// waiting notification does. When the thread ends, the notifications that wait are discarded and counted, and their observers are
/// removed.
///
/// > Thread safety: any thread.
final class NotificationRedirector: Sendable {
    /// The loop on whose thread notifications are delivered.
    let runLoop: RunLoop

    /// The lanes that carry deliveries to the loop.
    ///
    /// All observers with the same list of modes share one lane.
    private let lanes = Guarded<[DeliveryLane]>([])
    /// The number of observers on the loop that have not been destroyed.
    let observerCount = Atomic<Int>(0)
    /// The number of notifications that were dropped because an observer had no room.
    let dropped = Atomic<Int>(0)

    /// Returns the redirector of a loop.
    ///
    /// - Parameter runLoop: The loop.
    /// - Returns: The redirector: the same object each time, as long as there is a reference to it. Every observer on the loop
    ///   holds such a reference.
    static func of(_ runLoop: RunLoop) -> NotificationRedirector {
        // The loop's reference is weak, because the redirector holds a strong reference to the loop.
        runLoop.shared(ObjectIdentifier(NotificationRedirector.self)) { NotificationRedirector(runLoop) }
    }

    private init(_ runLoop: RunLoop) { self.runLoop = runLoop }

    /// Returns the lane for observers that are called in these modes; makes it if there is none.
    func lane(for modes: [RunLoop.Mode]) -> DeliveryLane {
        lanes.withLock { lanes in
            if let known = lanes.first(where: { $0.modes == modes }) { return known }
            // If only this list refers to a lane, the lane has no observer and is removed. No other thread can get a reference to
            // the lane meanwhile, because a thread must hold the lock to get one.
            for index in lanes.indices.reversed() where isKnownUniquelyReferenced(&lanes[index]) {
                lanes.remove(at: index)
            }
            let lane = DeliveryLane(modes)
            lanes.append(lane)
            return lane
        }
    }

    /// The number of lanes that the redirector keeps.
    var laneCount: Int { lanes.withLock { $0.count } }

    /// True if the handlers of a lane's observers can be called immediately, on the calling thread.
    func mayDeliverAtOnce(_ lane: DeliveryLane) -> Bool {
        runLoop.isCurrent && lane.isEmpty && runLoop.isIdleOrRuns(inOneOf: lane.modes)
    }

    func countDropped() { dropped.add(1, ordering: .relaxed) }

    func countUndelivered() { runLoop.countUndelivered() }
}
