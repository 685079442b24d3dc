internal import Synchronization

/// The observations that are registered under one key, in order of registration.
///
/// The list grows in place while posts iterate over it; a post reads only the elements that were there when the post began. A
/// removed observation stays in the list, and posts skip it, until the list is replaced.
///
/// References to the list are counted by hand. A post must call ``retain()`` inside ``CallRecord/lookUp(_:)``. If the compiler
/// inserted the retain instead, it would be free to move the retain out of the look-up.
///
/// > Thread safety: reading, ``retain()`` and ``release()`` from any thread; the rest under the lock of the `ObserverMap.Shard`
/// > that has the list.
///
/// `@safe`: the pointer refers to a list that lives as long as there is a reference.
@safe
struct ObserverList {
    private let storage: UnsafeMutablePointer<Storage>

    /// `@safe`: the storage owns the elements from `init` to `deinit`.
    @safe
    private struct Storage: ~Copyable {
        let references = Atomic<Int>(1)
        /// The number of elements that may be read.
        ///
        /// Each element is initialized before it is counted, and never changes.
        let count = Atomic<Int>(0)
        let capacity: Int
        let elements: UnsafeMutablePointer<Unmanaged<Observation>>
        /// The number of elements whose removal was reported to the list.
        let removedCount = Atomic<Int>(0)

        init(capacity: Int) {
            self.capacity = capacity
            unsafe elements = .allocate(capacity: capacity)
        }

        deinit {
            for index in 0..<count.load(ordering: .relaxed) { unsafe elements[index].release() }
            unsafe elements.deallocate()
        }
    }

    /// Makes an empty list.
    ///
    /// The caller owns the first reference.
    init(capacity: Int) {
        unsafe storage = .allocate(capacity: 1)
        unsafe storage.initialize(to: Storage(capacity: capacity))
    }

    /// The list at an address, or nil for 0.
    @inline(__always)
    init?(address: UInt) {
        // Safe: the address is that of a list.
        guard let storage = unsafe UnsafeMutablePointer<Storage>(bitPattern: address) else { return nil }
        unsafe self.storage = storage
    }

    var address: UInt { unsafe UInt(bitPattern: storage) }

    @inline(__always)
    func retain() { unsafe storage.pointee.references.wrappingAdd(1, ordering: .relaxed) }

    /// Releases a reference.
    ///
    /// Releasing the last reference destroys the list, and with it the observations that have no other owner.
    @inline(__always)
    func release() {
        if unsafe storage.pointee.references.wrappingSubtract(1, ordering: .acquiringAndReleasing).newValue
            == 0
        {
            destroy()
        }
    }

    @inline(never)
    private func destroy() {
        // Safe: this was the last reference.
        unsafe storage.deinitialize(count: 1)
        unsafe storage.deallocate()
    }

    /// The number of observations at this moment.
    @inline(__always)
    var count: Int { unsafe storage.pointee.count.load(ordering: .acquiring) }

    /// The observation at an index, which must be less than ``count``.
    ///
    /// The list retains the observation.
    @inline(__always)
    subscript(index: Int) -> Unmanaged<Observation> { unsafe storage.pointee.elements[index] }

    // MARK: - Under the shard's lock

    /// Appends an observation.
    ///
    /// - Returns: False if the list is full.
    func append(_ observation: Observation) -> Bool {
        let count = count
        if unsafe count == storage.pointee.capacity { return false }
        unsafe (storage.pointee.elements + count).initialize(to: .passRetained(observation))
        unsafe storage.pointee.count.store(count + 1, ordering: .releasing)
        return true
    }

    /// Counts one more observation in the list as removed.
    ///
    /// - Returns: True if at least half of the observations were removed, so that the list should be replaced.
    func noteRemoval() -> Bool {
        let removed = unsafe storage.pointee.removedCount.wrappingAdd(1, ordering: .relaxed).newValue
        return removed * 2 >= count
    }

    /// Returns a new list of the observations that were not removed.
    ///
    /// The new list has room for twice as many observations as it contains, and for at least two.
    func compacted() -> ObserverList {
        var kept: [Observation] = []
        for index in 0..<count {
            let observation = unsafe self[index].takeUnretainedValue()
            if !observation.isRemoved { kept.append(observation) }
        }
        let list = ObserverList(capacity: max(2, kept.count * 2))
        for observation in kept { _ = list.append(observation) }
        return list
    }
}
