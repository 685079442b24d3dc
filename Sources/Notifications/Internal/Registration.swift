internal import RunLoops

/// An observation, and the place where it is registered.
struct Registration: Sendable {
    private let observation: Observation
    private let forget: @Sendable () -> Void

    init(_ observation: Observation, forget: @escaping @Sendable () -> Void) {
        self.observation = observation
        self.forget = forget
    }

    /// What is called on another thread in the end.
    var target: RedirectedObserver? { observation.target }
    var id: ObjectIdentifier { ObjectIdentifier(observation) }
    var sender: ObjectIdentifier? { observation.sender }
    var isRemoved: Bool { observation.isRemoved }
    var isRunningHere: Bool { observation.isRunningHere || target?.observation.isRunningHere ?? false }

    /// What somebody waits for who waits until no call runs.
    var calls: [WaitTarget] {
        [.call(of: observation)] + (target.map { [.call(of: $0.observation)] } ?? [])
    }

    /// Ends the observation, and takes it out of its place.
    func remove() {
        end()
        // Also if somebody else was first, and is not there yet: when this returns, no call starts.
        target?.remove()
    }

    /// Ends what is called by the post, and takes it out of its place; what was redirected goes on.
    func end() {
        if observation.remove() { forget() }
    }

    /// Calls `waiter` when no call runs any more.
    ///
    /// After ``remove()``.
    func whenFinished(_ waiter: @escaping @Sendable () -> Void) {
        guard let target else { return observation.whenFinished(waiter) }
        observation.whenFinished { target.observation.whenFinished(waiter) }
    }
}
