internal import RunLoops

extension NotificationCenter {
    /// The registration of an object, which is removed by the object's identity.
    struct ObjectObservation: Sendable {
        let observer: WeakReference
        let name: Notification.Name?
        let registration: Registration
    }

    /// Registers an object, with a handler that is given the object and the notification.
    ///
    /// The center holds the object weakly, and the handler must not hold it either: it is given the object. The object is kept
    /// alive while the handler is called with it, and is not called any more once it has died. You need not remove it before.
    /// If the call has the last reference to the object, it is destroyed on the thread that posts. Registered twice, it is
    /// called twice.
    ///
    /// ```swift
    /// center.addObserver(self, name: .scoreDidChange) { keeper, note in keeper.scoreDidChange(note) }
    /// ```
    ///
    /// The handler runs on the posting thread, so the compiler refuses a method there that is isolated to an actor. For a method
    /// that is isolated to the main actor, register a handler on the main loop instead:
    /// ``addObserver(forName:object:on:inModes:capacity:using:)``.
    ///
    /// - Parameters:
    ///   - observer: The object that observes.
    ///   - name: The name that is observed; nil for every name.
    ///   - object: Only notifications of this object are observed; nil for those of any object and of none. It is not kept
    ///     alive, and once it has died the handler is not called any more.
    ///   - handler: Called on the thread that posts, with the observer and the notification.
    ///
    /// > Thread safety: any thread. The handler is called on the thread that posts.
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
        // Those of an object that has died, perhaps at this very address, will never be called.
        forgetObjects(with: id)
        objects.withLock { $0[id, default: []].append(observation) }
    }

    /// Ends the observations of an object that has died, and not those of one that has its identity now.
    private func forgetObjects(with id: ObjectIdentifier) {
        let (dead, observers) = objects.withLock { objects in
            let all = objects[id] ?? []
            // Kept until the lock is free: one of these may be the last reference by then.
            let observers = all.map(\.observer.sendable)
            let living = zip(all, observers).filter { $1 != nil }.map(\.0)
            objects[id] = living.isEmpty ? nil : living
            return (zip(all, observers).filter { $1 == nil }.map(\.0), observers)
        }
        withExtendedLifetime(observers) {
            for observation in dead { observation.registration.remove() }
        }
    }

    /// Ends the observations that an object was registered for.
    ///
    /// As after ``ObservationToken/remove()``, no call of them starts any more. Removing an object that is not registered does
    /// nothing. Observations that have a token go on, whatever their handler holds.
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
            let isMeant = { (one: ObjectObservation) in
                (name == nil || one.name == name) && (sender == nil || one.registration.sender == sender)
            }
            let rest = all.filter { !isMeant($0) }
            objects[id] = rest.isEmpty ? nil : rest
            return all.filter(isMeant)
        }
        for observation in ended { observation.registration.remove() }
    }
}
