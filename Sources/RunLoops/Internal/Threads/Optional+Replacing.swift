extension Optional {
    /// Stores a value, and returns the value that was stored before.
    ///
    /// With an assignment, the old value is released while the access to the storage is still under way. Storage without exclusivity
    /// checks must not allow that for a value that holds the user's objects, because their deinitializers can access the same
    /// storage. The caller of this method releases the old value, when the access is over.
    @discardableResult
    @inlinable
    @inline(__always)
    package mutating func replace(with value: consuming Wrapped) -> Wrapped? {
        let old = take()
        self = value
        return old
    }
}
