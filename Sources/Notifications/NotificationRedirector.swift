public import RunLoops
internal import Synchronization

/// Delivers notifications on the thread of one loop, whichever thread posts them.
///
/// There is one redirector for a loop, however many observers and centers it serves: the notifications for all of them go
/// through one queue, and a loop that is awake is not woken. What one thread posts reaches each observer in that order.
/// A post on the loop's own thread is delivered at once if nothing waits for an observer of the same modes, and else waits in
/// turn: nothing overtakes.
///
/// Usually it stays in the background of ``NotificationCenter/addObserver(forName:object:on:inModes:capacity:using:)``.
///
/// While the loop does not run, or runs in other modes, notifications wait. Observers do not keep a run going; what waits for
/// them does. When the thread ends, what waits is let go of and counted, and its observers are forgotten.
/// <doc:Delivery> has the whole of it.
///
/// > Thread safety: any thread.
public final class NotificationRedirector: Sendable {
    /// The loop on whose thread notifications are delivered.
    public let runLoop: RunLoop

    /// One for each list of modes that was ever named: a handful.
    private let lanes = Guarded<[DeliveryLane]>([])
    private let undelivered = Atomic<Int>(0)

    /// The loop's redirector.
    ///
    /// - Parameter runLoop: The loop.
    /// - Returns: The same one each time, as long as somebody holds it. Every observer on the loop does.
    ///
    /// > Thread safety: any thread.
    public static func of(_ runLoop: RunLoop) -> NotificationRedirector {
        // The loop must not hold what holds the loop.
        runLoop.shared(ObjectIdentifier(NotificationRedirector.self)) { NotificationRedirector(runLoop) }
    }

    private init(_ runLoop: RunLoop) { self.runLoop = runLoop }

    /// How many notifications have been let go of because the loop has ended, of all observers.
    ///
    /// Those that were on their way then; and the first one that is posted after it, for an observer that had none on its way.
    /// Then the observer is forgotten, and what is posted later is not counted. Hold the redirector to keep the count.
    public var undeliveredCount: Int { undelivered.load(ordering: .relaxed) }

    /// The lane of the observers that are called in these modes.
    func lane(for modes: [RunLoop.Mode]) -> DeliveryLane {
        lanes.withLock { lanes in
            if let known = lanes.first(where: { $0.modes == modes }) { return known }
            let lane = DeliveryLane(modes)
            lanes.append(lane)
            return lane
        }
    }

    /// Whether a post on this thread is delivered at once.
    func mayDeliverAtOnce(_ lane: DeliveryLane) -> Bool {
        runLoop.isCurrent && lane.isEmpty && runLoop.isIdleOrRuns(inOneOf: lane.modes)
    }

    func lost() { undelivered.add(1, ordering: .relaxed) }
}

extension NotificationRedirector {
    /// How much may wait for one observer, and what happens with more.
    ///
    /// > Thread safety: a value.
    public struct Capacity: Sendable {
        enum Kind: Sendable {
            case unlimited
            case bounded(Int, Policy)
            case coalescing(NotificationQueue.NotificationCoalescing)
        }

        /// What happens when as many wait as may.
        ///
        /// > Thread safety: a value.
        public enum Policy: Hashable, Sendable {
            /// The one that has waited longest is dropped, and the new one waits.
            case dropOldest
            /// The new one is dropped.
            case dropNewest
            /// The poster waits for room, for this length of time from its post on, and then drops the new one. Its thread is
            /// blocked so long, also if it is a task's. The loop's own thread does not wait: what it posts is taken beyond the
            /// limit.
            case block(until: Duration)
        }

        let kind: Kind

        /// Everything waits: an observer that is too slow costs memory.
        public static let unlimited = Capacity(kind: .unlimited)

        /// So many may wait.
        ///
        /// - Parameters:
        ///   - count: How many; at least 1.
        ///   - policy: What happens with more.
        /// - Returns: The capacity.
        public static func bounded(_ count: Int, _ policy: Policy) -> Capacity {
            if count < 1 {
                fatalError("Capacity.bounded: \(count) lets nothing wait; use at least 1, or .unlimited")
            }
            return Capacity(kind: .bounded(count, policy))
        }

        /// Of those that say the same one waits: the first.
        ///
        /// The others are not drops, and are not counted. One that is posted while the handler is called waits again.
        ///
        /// - Parameter mask: What they have in common; with nothing, all wait.
        /// - Returns: The capacity.
        public static func coalescing(_ mask: NotificationQueue.NotificationCoalescing) -> Capacity {
            Capacity(kind: .coalescing(mask))
        }
    }

    /// What has become of an observer's notifications.
    ///
    /// > Thread safety: a value.
    public struct Counts: Hashable, Sendable {
        /// The handler was called.
        public var delivered = 0
        /// Dropped, because too many waited.
        public var dropped = 0
        /// Let go of, because the loop has ended.
        public var undelivered = 0
    }
}

extension NotificationCenter {
    /// Registers a handler that is called on the thread of a loop, whichever thread posts.
    ///
    /// A post returns without waiting for it. Registered twice, it is called twice. It does not keep a run of the loop going.
    ///
    /// - Parameters:
    ///   - name: What is observed; nil for everything.
    ///   - object: Whose notifications are observed; nil for anybody's. It is not kept alive, but a notification
    ///     that waits keeps its own. Once it has gone, nothing more is taken for the handler.
    ///   - loop: The loop.
    ///   - modes: The modes in which the handler may be called; at least one.
    ///   - capacity: How many notifications may wait, and what happens with more.
    ///   - handler: Called on the loop's thread; destroyed there, too, unless the thread has ended by then.
    /// - Returns: A token: the observation ends when it is removed, or when its last copy goes. What waits then is
    ///   not delivered.
    ///
    /// > Thread safety: any thread.
    public func addObserver(
        forName name: Notification.Name?, object: (any AnyObject & Sendable)? = nil, on loop: RunLoop,
        inModes modes: [RunLoop.Mode] = [.common], capacity: NotificationRedirector.Capacity = .unlimited,
        using handler: @escaping @Sendable (Notification) -> Void
    ) -> ObservationToken {
        redirect(name, object, loop, modes, capacity, handler)
    }

    func redirect(
        _ name: Notification.Name?, _ object: (any AnyObject & Sendable)?, _ loop: RunLoop,
        _ modes: [RunLoop.Mode],
        _ capacity: NotificationRedirector.Capacity, _ handler: @escaping (Notification) -> Void
    ) -> ObservationToken {
        if modes.isEmpty {
            fatalError(
                "NotificationCenter.addObserver: no mode, so the handler would never be called; use [.common]"
            )
        }
        let target = RedirectedObserver(.of(loop), modes, capacity, handler)
        let registration = register(name, object, target: target) { target.take($0) }
        target.setRegistration(registration)
        return ObservationToken(registration)
    }
}

extension NotificationCenter {
    /// Posts a notification, and waits until the observers on other threads have been called, too.
    ///
    /// A delivery counts as over when the handler has returned, when it is dropped for want of room or merged, and when the
    /// observation is removed before its turn has come. This thread's own loop does not run meanwhile, and what is delivered at
    /// once on this thread needs no waiting. Whatever is thrown, the notification has been posted.
    ///
    /// - Parameters:
    ///   - notification: What has happened.
    ///   - deadline: When to stop waiting; nil for never. What is under way is delivered all the same.
    /// - Throws: ``/RunLoops/PerformError``: the deadline passed, a loop ended before it had delivered, the thread of one waits
    ///   for this thread, or something waits to be delivered on this very thread, which it will be when this thread's
    ///   loop runs: ``/RunLoops/PerformError/wouldDeadlock``.
    ///
    /// > Thread safety: any thread. Not in asynchronous code.
    @available(
        *, noasync,
        message: "this blocks the thread; call it on a RunLoopThread, whose performAndWait can be awaited"
    )
    public func postAndWait(
        _ notification: Notification, before deadline: ContinuousClock.Instant? = nil
    ) throws(PerformError) {
        let receipt = Receipt()
        var awaited = notification
        awaited.receipt = receipt
        post(awaited)
        try receipt.wait(until: deadline ?? .distantFuture, at: notification)
    }
}

extension RunLoop {
    /// Registers a handler that is called on this loop's thread, and may hold what is confined to it.
    ///
    /// As ``NotificationCenter/addObserver(forName:object:on:inModes:capacity:using:)``.
    ///
    /// - Parameters:
    ///   - name: What is observed; nil for everything.
    ///   - object: Whose notifications are observed; nil for anybody's.
    ///   - center: Where they are posted.
    ///   - modes: The modes in which the handler may be called; at least one.
    ///   - capacity: How many notifications may wait, and what happens with more.
    ///   - handler: Called on the loop's thread; destroyed there, too, unless the thread has ended by then. It need not be
    ///     `@Sendable`.
    /// - Returns: A token: the observation ends when it is removed, or when its last copy goes. What waits then is
    ///   not delivered. Any thread may hold and remove it.
    ///
    /// > Thread safety: the loop's own thread only.
    public func addObserver(
        forName name: Notification.Name?, object: (any AnyObject & Sendable)? = nil,
        in center: NotificationCenter = .default, inModes modes: [RunLoop.Mode] = [.common],
        capacity: NotificationRedirector.Capacity = .unlimited,
        using handler: @escaping (Notification) -> Void
    ) -> ObservationToken {
        if !isCurrent {
            fatalError(
                "RunLoop.addObserver: called outside the loop's own thread; use NotificationCenter.addObserver(forName:object:on:)"
            )
        }
        return center.redirect(name, object, self, modes, capacity, handler)
    }
}

extension ObservationToken {
    /// What has become of the notifications for an observer on a loop; nil for one that is called on the posting thread.
    ///
    /// Not counted: what waits, what was merged, and what was not delivered because the observation was removed. The counts
    /// stay after the end.
    ///
    /// > Thread safety: any thread. The three numbers are read one after the other.
    public var deliveryCounts: NotificationRedirector.Counts? { registration.target?.counts }
}
