internal import Synchronization

extension RunLoop {
    /// Returns the loop's object for a key, and makes it at the first call.
    ///
    /// The loop holds the object until the loop ends.
    ///
    /// - Parameters:
    ///   - key: The key, such as the identity of the object's type.
    ///   - make: Makes the object.
    /// - Returns: The object.
    package func companion<Companion: AnyObject>(_ key: ObjectIdentifier, make: () -> Companion) -> Companion
    {
        let core = core("RunLoop.companion", "perform a block on the loop and ask there")
        return objects.companion(key, isKept: !core.members.hasEnded, make)
    }

    /// Returns the loop's shared object for a key, and makes it if it does not exist.
    ///
    /// All threads share the object. The loop's reference is weak, so the object exists as long as another object holds it.
    ///
    /// - Parameters:
    ///   - key: The key, such as the identity of the object's type.
    ///   - make: Makes the object. The closure is called under a lock, so it must not call the loop.
    /// - Returns: The object.
    package func shared<Shared: AnyObject & Sendable>(_ key: ObjectIdentifier, make: () -> Shared) -> Shared {
        objects.shared(key, make)
    }

    /// Keeps an object until the loop has ended and has released all blocks that were sent to the loop.
    ///
    /// The object is released on the loop's thread. If the loop has ended already, the object is released immediately, on this
    /// thread.
    ///
    /// - Parameter object: The object.
    package func keepToTheEnd(_ object: any AnyObject & Sendable) {
        objects.keepToTheEnd(object)
    }

    /// Counts a delivery of another module that was discarded because the loop has ended.
    package func countUndelivered() { objects.undelivered.add(1, ordering: .relaxed) }

    /// The number of deliveries of other modules that were discarded because the loop has ended.
    package var undeliveredCount: Int { objects.undelivered.load(ordering: .relaxed) }
}

extension RunLoop: CallbackLoop {}
