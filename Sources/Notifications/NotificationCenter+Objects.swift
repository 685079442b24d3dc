internal import RunLoops

extension NotificationCenter {
    /// An observation by an object, which is removed by the object's identity.
    struct ObjectObservation: Sendable {
        let observer: WeakReference
        let name: Notification.Name?
        let registration: Registration
    }

    /// Registers an object, with a handler that receives the object and the notification.
    ///
    /// The center holds the object weakly, and the handler must not capture it: it receives the object as an argument. The
    /// object stays alive while the handler runs, and the handler is not called after the object was destroyed. You need not
    /// remove the object before. If the call has the last reference to the object, the object is destroyed on the posting
    /// thread. An object that is registered twice is called twice.
    ///
    /// ```swift
    /// center.addObserver(self, name: .scoreDidChange) { keeper, note in keeper.scoreDidChange(note) }
    /// ```
    ///
    /// The handler runs on the posting thread, so the compiler rejects a call of a method that is isolated to an actor. To call
    /// a method that is isolated to the main actor, register a handler on the main loop instead:
    /// ``addObserver(forName:object:on:inModes:capacity:using:)``.
    ///
    /// - Parameters:
    ///   - observer: The object that observes.
    ///   - name: The name to observe; nil for every name.
    ///   - object: The object whose notifications to observe; nil for those of any object and of none. It is not kept alive,
    ///     and the handler is not called after it was destroyed.
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
        // Observations of a destroyed object, perhaps at this very address, will never be called.
        forgetObjects(with: id)
        objects.withLock { $0[id, default: []].append(observation) }
    }

    /// Ends the observations of a destroyed object, but not those of a living object that has the same identity now.
    private func forgetObjects(with id: ObjectIdentifier) {
        let (dead, observers) = objects.withLock { objects in
            let all = objects[id] ?? []
            // Kept until the lock is released: one of these may be the last reference by then.
            let observers = all.map(\.observer.sendable)
            let living = zip(all, observers).filter { $1 != nil }.map(\.0)
            objects[id] = living.isEmpty ? nil : living
            return (zip(all, observers).filter { $1 == nil }.map(\.0), observers)
        }
        withExtendedLifetime(observers) {
            for observation in dead { observation.registration.remove() }
        }
    }

    /// Ends observations by an object.
    ///
    /// As after ``ObservationToken/remove()``, no call of their handlers starts after this. Removing an object that is not
    /// registered does nothing. Observations that have a token continue, even if their handler holds the object.
    ///
    /// - Parameters:
    ///   - observer: The object that observes.
    ///   - name: The name that it was registered with; nil for any.
    ///   - object: The object that it was registered with; nil for any.
    ///
    /// > Thread safety: any thread.
    public func removeObserver(
        _ observer: some AnyObject & Sendable, name: Notification.Name? = nil,
        object: (any AnyObject & Sendable)? = nil
    ) {
        let sender = object.map { ObjectIdentifier($0) }
        let ended = objects.withLock { objects in
            let id = ObjectIdentifier(observer)
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
