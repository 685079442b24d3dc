/// An observation, the place where it is registered, and what it delivers to, if that is another thread.
struct Registration: Sendable {
    private let observation: Observation
    private let forget: @Sendable () -> Void
    /// What is called on another thread in the end.
    let target: RedirectedObserver?

    init(
        _ observation: Observation, target: RedirectedObserver? = nil, forget: @escaping @Sendable () -> Void
    ) {
        self.observation = observation
        self.target = target
        self.forget = forget
    }

    var id: ObjectIdentifier { ObjectIdentifier(observation) }
    var sender: ObjectIdentifier? { observation.sender }
    var isRemoved: Bool { observation.isRemoved }
    var isRunningHere: Bool { observation.isRunningHere || target?.observation.isRunningHere ?? false }

    /// Ends the observation, and takes it out of its place.
    func remove() {
        guard observation.remove() else { return }
        // In this order: nothing is queued any more when what is queued becomes nothing.
        target?.remove()
        forget()
    }

    /// Calls `waiter` when no call runs any more.
    ///
    /// After ``remove()``.
    func whenFinished(_ waiter: @escaping @Sendable () -> Void) {
        guard let target else { return observation.whenFinished(waiter) }
        observation.whenFinished { target.observation.whenFinished(waiter) }
    }
}
