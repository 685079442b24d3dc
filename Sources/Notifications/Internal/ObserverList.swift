internal import Synchronization

/// The observations of one key, in order of registration.
///
/// It grows in place while posts go through it: a post sees as many as there were when it began. What was removed stays, and
/// is skipped, until the list is replaced by another one.
///
/// References to it are counted by hand. A post's ``retain()`` must happen inside a ``CallRecord/lookUp(_:)``, and the
/// compiler is free to move a retain of its own out of it.
///
/// > Thread safety: reading, ``retain()`` and ``release()`` from any thread; the rest under the lock of the list's shard.
///
/// `@safe`: the pointer is to a list that lives as long as somebody has a reference.
@safe
struct ObserverList {
    private let storage: UnsafeMutablePointer<Storage>

    /// `@safe`: the elements are its own, from `init` to `deinit`.
    @safe
    private struct Storage: ~Copyable {
        let references = Atomic<Int>(1)
        /// How many elements are there to be read: each is set before it is counted, and stays.
        let count = Atomic<Int>(0)
        let capacity: Int
        let elements: UnsafeMutablePointer<Unmanaged<Observation>>
        /// How many have been removed, as far as the list was told.
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

    /// Makes an empty list; the reference is the caller's.
    init(capacity: Int) {
        unsafe storage = .allocate(capacity: 1)
        unsafe storage.initialize(to: Storage(capacity: capacity))
    }

    /// The list at this address; nil for 0.
    @inline(__always)
    init?(address: UInt) {
        // Safe: the address is that of a list.
        guard let storage = unsafe UnsafeMutablePointer<Storage>(bitPattern: address) else { return nil }
        unsafe self.storage = storage
    }

    var address: UInt { unsafe UInt(bitPattern: storage) }

    @inline(__always)
    func retain() { unsafe storage.pointee.references.wrappingAdd(1, ordering: .relaxed) }

    /// Gives a reference back; the last one destroys the list, and with it observations that nobody else holds.
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
        // Safe: nobody has a reference.
        unsafe storage.deinitialize(count: 1)
        unsafe storage.deallocate()
    }

    /// How many there are now.
    @inline(__always)
    var count: Int { unsafe storage.pointee.count.load(ordering: .acquiring) }

    /// One of the first ``count``, which the list holds.
    @inline(__always)
    subscript(index: Int) -> Unmanaged<Observation> { unsafe storage.pointee.elements[index] }

    // MARK: - Under the shard's lock

    /// Adds one, last in order.
    ///
    /// - Returns: False if there is no room.
    func append(_ observation: Observation) -> Bool {
        let count = count
        if unsafe count == storage.pointee.capacity { return false }
        unsafe (storage.pointee.elements + count).initialize(to: .passRetained(observation))
        unsafe storage.pointee.count.store(count + 1, ordering: .releasing)
        return true
    }

    /// Notes that one was removed.
    ///
    /// - Returns: Whether the removed ones are so many that the list is to be replaced.
    func noteRemoval() -> Bool {
        let removed = unsafe storage.pointee.removedCount.wrappingAdd(1, ordering: .relaxed).newValue
        return removed * 2 >= count
    }

    /// A list of those that were not removed, with room for more.
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
