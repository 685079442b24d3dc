public import RunLoops
internal import Synchronization

/// The delivery of notifications on the thread of one loop, from any posting thread.
///
/// Each loop has one redirector for all observers and centers: their notifications go through the loop's one queue, and a loop
/// that is awake is not woken. Notifications that one thread posts reach each observer in that order. A post on the loop's own
/// thread is delivered at once if nothing waits for an observer with the same modes; otherwise it waits its turn, so that it
/// overtakes nothing.
///
/// You seldom use it directly: ``NotificationCenter/addObserver(forName:object:on:inModes:capacity:using:)`` does.
///
/// While the loop does not run, or runs in other modes, notifications wait. Observers do not keep a run going, but
/// notifications that wait for them do. When the thread ends, the notifications that wait are discarded and counted, and their
/// observers are removed. <doc:ObservingOnLoops> has the details.
///
/// > Thread safety: any thread.
public final class NotificationRedirector: Sendable {
    /// The loop on whose thread notifications are delivered.
    public let runLoop: RunLoop

    /// The lanes of the observers, one for each list of modes.
    private let lanes = Guarded<[DeliveryLane]>([])
    private let undelivered = Atomic<Int>(0)

    /// Returns the redirector of a loop.
    ///
    /// - Parameter runLoop: The loop.
    /// - Returns: The same object each time, as long as there is a reference to it. Every observer on the loop has one.
    ///
    /// > Thread safety: any thread.
    public static func of(_ runLoop: RunLoop) -> NotificationRedirector {
        // The loop has a weak reference, because the redirector holds the loop.
        runLoop.shared(ObjectIdentifier(NotificationRedirector.self)) { NotificationRedirector(runLoop) }
    }

    private init(_ runLoop: RunLoop) { self.runLoop = runLoop }

    /// The number of notifications, for all observers, that were discarded because the loop has ended.
    ///
    /// It counts those that were on their way then, and, for an observer that had none on its way, the first one posted
    /// afterwards. The observer is removed then, and later posts are not counted. Hold the redirector to keep the count.
    public var undeliveredCount: Int { undelivered.load(ordering: .relaxed) }

    /// The lane of the observers that are called in these modes.
    func lane(for modes: [RunLoop.Mode]) -> DeliveryLane {
        lanes.withLock { lanes in
            if let known = lanes.first(where: { $0.modes == modes }) { return known }
            // A lane that only this list refers to has no observer. No other thread can get a reference to it meanwhile: it
            // would need the lock.
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

    /// True if a post on this thread is delivered at once.
    func mayDeliverAtOnce(_ lane: DeliveryLane) -> Bool {
        runLoop.isCurrent && lane.isEmpty && runLoop.isIdleOrRuns(inOneOf: lane.modes)
    }

    func countUndelivered() { undelivered.add(1, ordering: .relaxed) }
}
