internal import RunLoops

extension NotificationCenter {
    /// An observation that belongs to an observing object, and that the center finds by the identity of this object.
    struct ObjectObservation: Sendable {
        let observer: WeakReference
        let name: Notification.Name?
        let registration: Registration
    }

    /// Registers an object as an observer, with a handler that receives the object and the notification.
    ///
    /// The center holds the object weakly, and the handler must not capture the object, because it receives the object as an
    /// argument. The object stays alive while the handler runs, and the handler is not called after the object has been
    /// destroyed. You need not remove the object before it is destroyed. If a running call holds the last reference to the
    /// object, the object is destroyed on the posting thread. An object that is registered twice is called twice.
    ///
    /// ```swift
    /// center.addObserver(self, name: .scoreDidChange) { keeper, note in keeper.scoreDidChange(note) }
    /// ```
    ///
    /// The handler runs on the posting thread, so the compiler rejects a call to a method that is isolated to an actor. To call
    /// a method that is isolated to the main actor, register a handler on the main loop instead:
    /// ``addObserver(forName:object:on:inModes:capacity:using:)``.
    ///
    /// - Parameters:
    ///   - observer: The object that observes.
    ///   - name: The name to observe; nil for every name.
    ///   - object: The object whose notifications to observe; nil for notifications with any object, or without one. The center
    ///     does not keep this object alive, and does not call the handler after this object has been destroyed.
    ///   - handler: Called on the posting thread, with the observer and the notification.
    ///
    /// > Thread safety: any thread. The handler is called on the posting thread.
    public func addObserver<Observer: AnyObject & Sendable>(
        _ observer: Observer, name: Notification.Name?, object: (any AnyObject & Sendable)? = nil,
        using handler: @escaping @Sendable (Observer, Notification) -> Void
    ) {
        let id = ObjectIdentifier(observer)
        let registration = register(name, object) { [weak self, weak observer] notification in
            guard let observer else {
                self?.forgetObjects(with: id)
                return
            }
            handler(observer, notification)
        }
        let observation = ObjectObservation(
            observer: WeakReference(observer), name: name, registration: registration)
        // An observer that has been destroyed may have had the same address. Its observations will never be called, so they are
        // removed now.
        forgetObjects(with: id)
        objects.withLock { $0[id, default: []].append(observation) }
    }

    /// Ends the observations of a destroyed object, but not those of a living object that has the same identity now.
    private func forgetObjects(with id: ObjectIdentifier) {
        let (dead, observers) = objects.withLock { objects in
            let all = objects[id] ?? []
            // By the time that the lock is released, each of these references can be the last one to its object. Releasing it then
            // destroys the object, so the references are kept until the lock is free.
            let observers = all.map(\.observer.sendable)
            let living = zip(all, observers).filter { $1 != nil }.map(\.0)
            objects[id] = living.isEmpty ? nil : living
            return (zip(all, observers).filter { $1 == nil }.map(\.0), observers)
        }
        withExtendedLifetime(observers) {
            for observation in dead { observation.registration.remove() }
        }
    }

    /// Ends an object's observations.
    ///
    /// After this has returned, no call of the observations' handlers starts, as with ``ObservationToken/remove()``. Removing an
    /// object that is not registered does nothing. Observations that have a token continue, even if their handler holds the object.
    ///
    /// - Parameters:
    ///   - observer: The object that observes.
    ///   - name: The name that the observer was registered with; nil for any name.
    ///   - object: The object whose notifications the observer was registered for; nil for any object.
    ///
    /// > Thread safety: any thread.
    @_disfavoredOverload
    public func removeObserver(
        _ observer: some AnyObject & Sendable, name: Notification.Name? = nil,
        object: (any AnyObject & Sendable)? = nil
    ) {
        removeObservations(
            of: ObjectIdentifier(observer), name: name, sender: object.map { ObjectIdentifier($0) })
    }

    /// Ends the observations that belong to the observing object with a given identity.
    ///
    /// - Parameters:
    ///   - id: The identity of the object that observes.
    ///   - name: The name that the observer was registered with; nil for any name.
    ///   - sender: The identity of the object whose notifications the observer was registered for; nil for any object.
    package func removeObservations(
        of id: ObjectIdentifier, name: Notification.Name?, sender: ObjectIdentifier?
    ) {
        let ended = objects.withLock { objects in
            let all = objects[id] ?? []
            let isWanted = { (one: ObjectObservation) in
                (name == nil || one.name == name) && (sender == nil || one.registration.sender == sender)
            }
            let rest = all.filter { !isWanted($0) }
            objects[id] = rest.isEmpty ? nil : rest
            return all.filter(isWanted)
        }
        for observation in ended { observation.registration.remove() }
    }
}
