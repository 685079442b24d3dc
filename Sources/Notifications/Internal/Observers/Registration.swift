internal import RunLoops

/// An observation, and a closure that removes it from the map in which it is registered.
struct Registration: Sendable {
    let observation: Observation
    let forget: @Sendable () -> Void

    /// Makes a registration.
    ///
    /// - Parameters:
    ///   - observation: The observation.
    ///   - forget: Removes the observation from its map; called once, after the observation has ended.
    init(_ observation: Observation, forget: @escaping @Sendable () -> Void) {
        self.observation = observation
        self.forget = forget
    }

    /// The observer that gets the observation's notifications on a loop; nil if the observation calls the user's handler itself.
    var target: (any DeliveryTarget)? { observation.target }
    var id: ObjectIdentifier { ObjectIdentifier(observation) }
    var sender: ObjectIdentifier? { observation.sender }
    var isRemoved: Bool { observation.isRemoved }
    /// True if a call of the handler is on the stack of the calling thread.
    var isRunningHere: Bool { observation.isRunningHere || target?.observation.isRunningHere ?? false }

    /// The targets for a thread that waits until no call of the handler is running.
    ///
    /// The first target is the calls of the observation. If the observation passes its notifications to an observer on a loop, the
    /// second target is the calls of that observer.
    var calls: [WaitTarget] {
        [.call(of: observation)] + (target.map { [.call(of: $0.observation)] } ?? [])
    }

    /// Ends the observation, and discards the notifications that wait for it on a loop.
    func remove() {
        end()
        // The target is removed even if another thread has ended the observation first. That thread may not have reached the target
        // yet, but after this method has returned, no call is allowed to start.
        target?.remove()
    }

    /// Ends the observation itself, so that posts no longer reach it, and removes it from its map.
    ///
    /// If the observation passes its notifications to an observer on a loop, that observer is not removed, and the notifications
    /// that wait for it are not discarded.
    func end() {
        if observation.remove() { forget() }
    }

    /// Calls `waiter` when no call of the handler is running.
    ///
    /// Call this after ``remove()``.
    func whenFinished(_ waiter: @escaping @Sendable () -> Void) {
        guard let target else { return observation.whenFinished(waiter) }
        observation.whenFinished { target.observation.whenFinished(waiter) }
    }
}
