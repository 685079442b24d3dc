internal import Synchronization

/// The objects that other modules attach to a loop.
///
/// There are three kinds. Companions are used only by the loop's thread, and exist as long as the loop. Shared objects are used by
/// all threads, and exist as long as other code holds them. Kept objects exist until the loop has ended.
///
/// `@unchecked Sendable`: only the loop's own thread touches `companions`.
final class LoopObjects: @unchecked Sendable {
    /// Objects of other modules, by their keys; only the loop's thread uses these objects.
    private var companions: [ObjectIdentifier: AnyObject] = [:]

    /// Weak references to objects of other modules, by their keys; all threads share these objects.
    private let sharedObjects = Guarded<[ObjectIdentifier: WeakReference]>([:])

    /// The objects that exist until the loop has ended; nil from then on.
    private let keptToTheEnd = Guarded<[any AnyObject & Sendable]?>([])

    /// The number of deliveries of other modules that were discarded because the loop has ended.
    let undelivered = Atomic<Int>(0)

    /// The unanswered questions of inspectors about the loop's details.
    let questions = Guarded<[@Sendable (LoopDetails?) -> Void]>([])

    /// Returns the companion for a key, and makes the companion if there is none.
    ///
    /// A companion is an object that only the loop's thread uses. Only that thread may call this.
    func companion<Companion: AnyObject>(
        _ key: ObjectIdentifier, isKept: Bool, _ make: () -> Companion
    ) -> Companion {
        if let known = companions[key] as? Companion { return known }
        let made = make()
        if isKept { companions[key] = made }
        return made
    }

    /// Removes and returns the objects that only the loop's thread uses, because the loop ends.
    ///
    /// Only the loop's thread may call this.
    func takeCompanions() -> [AnyObject] { Array(exchange(&companions, with: [:]).values) }

    /// Returns the shared object for a key, and makes the object if there is none.
    func shared<Shared: AnyObject & Sendable>(_ key: ObjectIdentifier, _ make: () -> Shared) -> Shared {
        sharedObjects.withLock { objects in
            if let known = unsafe objects[key]?.object as? Shared { return known }
            let made = make()
            objects[key] = WeakReference(made)
            return made
        }
    }

    /// The descriptions of all shared objects that describe themselves to an inspector.
    ///
    /// Only the loop's thread may call this.
    var inspectedParts: [InspectedPart] {
        // The parts are read outside the lock, because an object can take its own locks.
        let objects = sharedObjects.withLock { objects in
            objects.values.compactMap { unsafe $0.object as? any Inspected }
        }
        return objects.flatMap(\.parts)
    }

    /// Keeps an object until ``end()`` is called.
    ///
    /// After a call of ``end()``, this method does nothing.
    func keepToTheEnd(_ object: any AnyObject & Sendable) { keptToTheEnd.withLock { $0?.append(object) } }

    /// Releases the kept objects, because the loop has ended and has released all other objects.
    func end() {
        withExtendedLifetime(keptToTheEnd.withLock { $0.take() }) {}
    }
}
