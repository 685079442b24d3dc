public import RunLoops

extension DistributedNotificationCenter {
    /// Registers a handler, which is called with each notification and each gap on the thread of the given loop.
    ///
    /// The subscription begins in the background; ``DistributedObservation/isConfirmed`` is true once it has begun. A registered
    /// handler alone does not keep a run of the loop going. A center can have up to 16,384 observers; adding one more ends the
    /// program.
    ///
    /// - Parameters:
    ///   - name: The name to observe; nil for every name.
    ///   - sender: The sender to observe; nil for all notifications, with or without a sender.
    ///   - loop: The loop on whose thread the handler is called.
    ///   - modes: The modes in which the handler is called; at least one.
    ///   - capacity: The limit on the number of waiting notifications, and the policy for notifications beyond the limit.
    ///   - behavior: The treatment of notifications while the center is suspended.
    ///   - start: The earlier notifications that are delivered first, if the center's engine still has them.
    ///   - fileID: The file of the call, for diagnostics.
    ///   - line: The line of the call, for diagnostics.
    ///   - handler: Called on the loop's thread.
    /// - Returns: The handle. The observation ends when the handle is removed, or when the last reference to the handle is
    ///   released. Events that wait at that moment are discarded.
    ///
    /// > Thread safety: any thread.
    public func addObserver(
        forName name: String?, sender: String? = nil, on loop: RunLoop,
        inModes modes: [RunLoop.Mode] = [.common],
        capacity: Capacity = .unlimited, suspensionBehavior behavior: SuspensionBehavior = .hold,
        startingWith start: Start = .now, fileID: StaticString = #fileID, line: Int = #line,
        using handler: @escaping @Sendable (DistributedNotificationEvent) -> Void
    ) -> DistributedObservation {
        if modes.isEmpty {
            misuse(
                "DistributedNotificationCenter.addObserver: no mode, so the handler would never be called; use [.common]"
            )
        }
        Fork.check("DistributedNotificationCenter.addObserver")
        return observe(
            name, sender, .loop(loop, modes, SourceLocation(fileID, line), handler), capacity, behavior, start
        )
    }

    /// Returns an asynchronous sequence of notifications and gaps.
    ///
    /// The observation begins with the iteration. ``DistributedNotificationSequence/Iterator/confirmed()`` waits until the
    /// subscription is confirmed.
    ///
    /// - Parameters:
    ///   - name: The name to observe; nil for every name.
    ///   - sender: The sender to observe; nil for all notifications, with or without a sender.
    ///   - capacity: The limit on the number of waiting notifications, and the policy for notifications beyond the limit. There is
    ///     no default, because each capacity costs either notifications or memory.
    ///   - behavior: The treatment of notifications while the center is suspended.
    ///   - start: The earlier notifications that are delivered first, if the center's engine still has them.
    /// - Returns: The sequence. It does not keep the center alive.
    ///
    /// > Thread safety: any thread.
    public func notifications(
        named name: String?, sender: String? = nil, capacity: Capacity,
        suspensionBehavior behavior: SuspensionBehavior = .hold, startingWith start: Start = .now
    ) -> DistributedNotificationSequence {
        DistributedNotificationSequence { [weak self] in
            self?.observe(name, sender, .task, capacity, behavior, start)
        }
    }

    private func observe(
        _ name: String?, _ sender: String?, _ target: ObserverLane.Target, _ capacity: Capacity,
        _ behavior: SuspensionBehavior, _ start: Start
    ) -> DistributedObservation {
        let lane = ObserverLane(
            target, EventQueue(capacity, behavior, mostHeld: options.heldNotificationLimit))
        let number = state.add(lane, name: name, sender: sender, start: start.start)
        return DistributedObservation(lane, number, state)
    }
}

/// An asynchronous sequence of notifications and gaps, which a task awaits one by one.
///
/// The sequence ends when its task is cancelled or the center ends.
///
/// > Thread safety: a value; each iteration is a separate observation.
public struct DistributedNotificationSequence: AsyncSequence, Sendable {
    /// An event of the sequence.
    public typealias Element = DistributedNotificationEvent

    let observe: @Sendable () -> DistributedObservation?

    /// Begins observing.
    ///
    /// - Returns: An iterator over the events.
    public func makeAsyncIterator() -> Iterator { Iterator(observation: observe()) }

    /// An iterator over notifications and gaps, whose observation ends when the last copy of the iterator is destroyed.
    ///
    /// > Thread safety: one task at a time.
    public struct Iterator: AsyncIteratorProtocol {
        /// The observation; nil if the center has ended.
        public let observation: DistributedObservation?

        /// Waits until the subscription is confirmed.
        ///
        /// - Returns: False if the task was cancelled, or the center ended.
        @discardableResult
        public func confirmed() async -> Bool { await observation?.confirmed() ?? false }

        /// Awaits the next event.
        ///
        /// - Returns: The event, or nil if the task was cancelled or the center has ended.
        public mutating func next() async -> DistributedNotificationEvent? {
            await observation?.lane.next(isolation: #isolation)
        }

        /// Awaits the next event.
        ///
        /// - Parameter actor: The actor that the caller is isolated to.
        /// - Returns: The event, or nil if the task was cancelled or the center has ended.
        public mutating func next(isolation actor: isolated (any Actor)?) async
            -> DistributedNotificationEvent?
        {
            await observation?.lane.next(isolation: actor)
        }
    }
}

@available(*, unavailable)
extension DistributedNotificationSequence.Iterator: Sendable {}
