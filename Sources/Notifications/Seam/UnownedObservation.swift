internal import RunLoops

/// An observation that no token owns: it continues until it is removed, or its center is destroyed.
///
/// > Thread safety: any thread.
package struct UnownedObservation: Sendable {
    /// A weak reference to the observation; the center owns the observation.
    private let observation: WeakReference
    private let forget: @Sendable () -> Void

    fileprivate init(_ registration: Registration) {
        observation = WeakReference(registration.observation)
        forget = registration.forget
    }

    /// Ends the observation, as ``ObservationToken/remove()`` does.
    package func remove() {
        guard let observation = observation.object(as: Observation.self) else { return }
        Registration(observation, forget: forget).remove()
    }
}

extension NotificationCenter {
    /// Registers a handler without a token that owns the observation.
    ///
    /// - Parameters:
    ///   - name: The name to observe; nil for every name.
    ///   - object: The object whose notifications to observe; nil for notifications with any object, or without one.
    ///   - handler: Called on the posting thread.
    /// - Returns: The observation.
    package func addUnownedObserver(
        forName name: Notification.Name?, object: (any AnyObject & Sendable)?,
        using handler: @escaping @Sendable (Notification) -> Void
    ) -> UnownedObservation {
        UnownedObservation(register(name, object, handler))
    }
}
