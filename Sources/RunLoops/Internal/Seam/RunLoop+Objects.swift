extension RunLoop {
    /// Returns the loop's object with a key, which is made when it is first asked for and released with the loop.
    ///
    /// - Parameters:
    ///   - key: The key, such as the identity of the object's type.
    ///   - make: Makes it.
    /// - Returns: The object.
    package func companion<Companion: AnyObject>(_ key: ObjectIdentifier, make: () -> Companion) -> Companion
    {
        let core = core("RunLoop.companion", "perform a block on the loop and ask there")
        return objects.companion(key, isKept: !core.members.hasEnded, make)
    }

    /// Returns the loop's object with a key for all threads, which is made when it is first asked for.
    ///
    /// The loop holds it weakly: it lives as long as another object holds it.
    ///
    /// - Parameters:
    ///   - key: The key, such as the identity of the object's type.
    ///   - make: Makes it; called under a lock, so it calls nothing of the loop's.
    /// - Returns: The object.
    package func shared<Shared: AnyObject & Sendable>(_ key: ObjectIdentifier, make: () -> Shared) -> Shared {
        objects.shared(key, make)
    }

    /// Keeps an object until the loop has ended, and has released all blocks that were sent to it.
    ///
    /// That may be now. The object is released on the loop's thread, or on this one if the loop has ended.
    ///
    /// - Parameter object: The object.
    package func keepToTheEnd(_ object: any AnyObject & Sendable) {
        objects.keepToTheEnd(object)
    }
}
