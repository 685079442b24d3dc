extension RunLoop {
    /// Returns the loop's object for a key, which the first call makes, and which is released with the loop.
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

    /// Returns the loop's object for a key, shared by all threads; the first call makes it.
    ///
    /// The loop holds the object weakly, so it lives as long as another object holds it.
    ///
    /// - Parameters:
    ///   - key: The key, such as the identity of the object's type.
    ///   - make: Makes the object. Called under a lock, so it must not call the loop.
    /// - Returns: The object.
    package func shared<Shared: AnyObject & Sendable>(_ key: ObjectIdentifier, make: () -> Shared) -> Shared {
        objects.shared(key, make)
    }

    /// Keeps an object until the loop has ended and has released all blocks that were sent to it.
    ///
    /// If the loop has ended, the object is released at once. The object is released on the loop's thread, or on this one if
    /// the loop has ended.
    ///
    /// - Parameter object: The object.
    package func keepToTheEnd(_ object: any AnyObject & Sendable) {
        objects.keepToTheEnd(object)
    }
}
