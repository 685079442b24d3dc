internal import RunLoops

/// An observation, and the map that it is registered in.
struct Registration: Sendable {
    let observation: Observation
    private let forget: @Sendable () -> Void

    /// Makes a registration.
    ///
    /// - Parameters:
    ///   - observation: The observation.
    ///   - forget: Takes the observation out of its map; called once, after the observation has ended.
    init(_ observation: Observation, forget: @escaping @Sendable () -> Void) {
        self.observation = observation
        self.forget = forget
    }

    /// The observer on a loop that the observation feeds, if there is one.
    var target: (any DeliveryTarget)? { observation.target }
    var id: ObjectIdentifier { ObjectIdentifier(observation) }
    var sender: ObjectIdentifier? { observation.sender }
    var isRemoved: Bool { observation.isRemoved }
    /// True if a call of the handler is on the stack of the calling thread.
    var isRunningHere: Bool { observation.isRunningHere || target?.observation.isRunningHere ?? false }

    /// The targets of a wait for the last call to return.
    var calls: [WaitTarget] {
        [.call(of: observation)] + (target.map { [.call(of: $0.observation)] } ?? [])
    }

    /// Ends the observation, and what waits for it on a loop.
    func remove() {
        end()
        // Also if another thread has ended the observation first and has not reached the target yet: after this returns, no
        // call may start.
        target?.remove()
    }

    /// Ends the observation that a post calls, and takes it out of its map.
    ///
    /// Notifications that wait on a loop stay there.
    func end() {
        if observation.remove() { forget() }
    }

    /// Calls `waiter` when no call is running.
    ///
    /// Call this after ``remove()``.
    func whenFinished(_ waiter: @escaping @Sendable () -> Void) {
        guard let target else { return observation.whenFinished(waiter) }
        observation.whenFinished { target.observation.whenFinished(waiter) }
    }
}
