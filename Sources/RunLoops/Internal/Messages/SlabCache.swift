internal import CRunLoops
internal import Synchronization

/// An allocator of the nodes that one thread sends.
///
/// The allocator hands out the nodes of a slab of 4 KiB from front to back, without malloc and without a search. For each slab, the
/// receiver counts the nodes that it has released. The release of a slab's last node returns the whole slab to its allocator. So a
/// message costs one addition on each side, and each slab costs one exchange between threads.
///
/// A burst takes as many slabs as it needs. Up to ``spareLimit`` empty slabs wait for reuse, and further empty slabs are freed. So
/// a queue of steady length allocates nothing, however long it is.
///
/// A slab refers to its cache, so the cache exists until its thread has ended and the last of its slabs has returned.
///
/// > Thread safety: ``takeNode()`` and ``close()`` from the cache's thread; slabs are returned on any thread.
@safe
struct SlabCache {
    /// The maximum number of empty slabs that one thread keeps for reuse.
    ///
    /// Together these slabs have room for about 4,000 messages.
    static let spareLimit = 64

    /// `@safe`: the memory is freed only when neither the thread nor a slab needs it.
    private let storage: UnsafeMutablePointer<Storage>

    /// The state of a cache.
    ///
    /// The cache's thread accesses all members; other threads access only the atomics.
    struct Storage: ~Copyable {
        /// The address of the next node to hand out.
        var cursor: UInt = 0
        /// The end of the current slab.
        var end: UInt = 0
        /// The head of a linked list of empty slabs, which the thread uses next.
        var spares: Slab?
        /// The linked stack of slabs that receivers have returned: the address of the newest slab, or 1 after the thread has ended.
        let returned = Atomic<UInt>(0)
        /// The number of slabs in `spares` and `returned`.
        let idle = Atomic<Int>(0)
        /// The number of slabs that refer to this cache, plus 1 until the thread has ended.
        ///
        /// The cache is freed when the number becomes 0.
        let users = Atomic<Int>(1)
    }

    private static let closed: UInt = 1

    /// Returns a node for the calling thread to fill and push.
    @inline(__always)
    static func takeNode() -> Node { current.take(Node.stride) }

    /// Returns a wide node for the calling thread to fill and push.
    ///
    /// A wide node takes the space of two adjacent nodes of one slab.
    static func takeWideNode() -> Node {
        let cache = current
        // Safe: this is the cache's own thread.
        let left = unsafe cache.storage.pointee.end - cache.storage.pointee.cursor
        if left == UInt(Node.stride) {
            // The slab has space for only half of a wide node. That half is never handed out, so it counts as released.
            let last = Slab(containing: unsafe cache.storage.pointee.cursor)
            unsafe cache.storage.pointee.cursor = cache.storage.pointee.end
            last.finish(1)
        }
        return cache.take(Node.wideStride)
    }

    @inline(__always)
    private static var current: SlabCache {
        // Safe: this is the thread's own pointer, which `makeCurrent` below has stored.
        if let known = unsafe runloops_thread_slabs() {
            return unsafe SlabCache(storage: known.assumingMemoryBound(to: Storage.self))
        }
        return makeCurrent()
    }

    /// Returns a node of the given size from the current slab, or from a new current slab if the present one is used up.
    ///
    /// - Precondition: The current slab has no space at all, or has enough space for the node.
    @inline(__always)
    private func take(_ size: Int) -> Node {
        if unsafe storage.pointee.cursor == storage.pointee.end { refill() }
        let address = unsafe storage.pointee.cursor
        unsafe storage.pointee.cursor = address &+ UInt(size)
        // Safe: the address is between the current slab's first node and its end, so it is not null, and refers to a whole node.
        return unsafe Node(UnsafeMutableRawPointer(bitPattern: address).unsafelyUnwrapped)
    }

    @inline(never)
    private func refill() {
        // Safe: this is the cache's own thread; other threads access only the atomics.
        if unsafe storage.pointee.spares == nil {
            racePoint(.slabsAreTaken)
            let address = unsafe storage.pointee.returned.exchange(0, ordering: .acquiring)
            unsafe storage.pointee.spares = Slab(address: address)
        }
        let slab: Slab
        if let spare = unsafe storage.pointee.spares {
            unsafe storage.pointee.spares = spare.next
            unsafe storage.pointee.idle.subtract(1, ordering: .relaxed)
            slab = spare
        } else {
            slab = unsafe Slab.create(for: SlabCache(storage: storage))
            unsafe storage.pointee.users.add(1, ordering: .relaxed)
        }
        unsafe storage.pointee.cursor = slab.firstNode
        unsafe storage.pointee.end = slab.end
    }

    /// Takes back a slab after all of its nodes were released.
    fileprivate func giveBack(_ slab: Slab) {
        slab.reset()
        // The slab is counted before it is in the list, so that the owner never subtracts a slab that has not been counted.
        if unsafe storage.pointee.idle.add(1, ordering: .relaxed).oldValue < SlabCache.spareLimit {
            var newest = unsafe storage.pointee.returned.load(ordering: .relaxed)
            while newest != SlabCache.closed {
                slab.next = Slab(address: newest)
                racePoint(.slabComesBack)
                // Other threads only push, and the owner takes all slabs in one exchange. So it does no harm if an address leaves
                // the stack and returns in the meantime.
                let (exchanged, original) = unsafe storage.pointee.returned.weakCompareExchange(
                    expected: newest, desired: slab.address,
                    successOrdering: .releasing, failureOrdering: .relaxed)
                if exchanged { return }
                newest = original
            }
        }
        unsafe storage.pointee.idle.subtract(1, ordering: .relaxed)
        slab.destroy()
        release()
    }

    /// Subtracts 1 from ``Storage/users``.
    ///
    /// If the result is 0, the cache is freed.
    private func release() {
        let left = unsafe storage.pointee.users.subtract(1, ordering: .acquiringAndReleasing).newValue
        if left == 0 {
            // Safe: the thread has ended, and no slab is left.
            unsafe storage.deinitialize(count: 1)
            unsafe storage.deallocate()
        }
    }

    /// Creates the calling thread's cache.
    private static func makeCurrent() -> SlabCache {
        let storage = UnsafeMutablePointer<Storage>.allocate(capacity: 1)
        unsafe storage.initialize(to: Storage())
        unsafe runloops_thread_set_slabs(storage)
        ThreadEnd.watch(.slabs) {
            SlabCache.closeCurrent()
            return nil
        }
        return unsafe SlabCache(storage: storage)
    }

    /// Closes the calling thread's cache, if it has one.
    static func closeCurrent() {
        guard let known = unsafe runloops_thread_slabs() else { return }
        runloops_thread_set_slabs(nil)
        unsafe SlabCache(storage: known.assumingMemoryBound(to: Storage.self)).close()
    }

    private func close() {
        var spares = unsafe storage.pointee.spares
        var returned = Slab(
            address: unsafe storage.pointee.returned.exchange(SlabCache.closed, ordering: .acquiring))
        // No receiver releases the nodes of the current slab that were never handed out, so they are released here.
        let unused = unsafe (storage.pointee.end - storage.pointee.cursor) / UInt(Node.stride)
        if unused > 0 {
            // Safe: the cursor is inside the current slab.
            Slab(containing: unsafe storage.pointee.cursor).finish(Int(unused))
        }
        while let slab = spares ?? returned {
            if spares != nil { spares = slab.next } else { returned = slab.next }
            slab.destroy()
            release()
        }
        release()
    }
}

/// A block of 4 KiB of memory for nodes.
///
/// The block is aligned to its size, so the slab of a node is found from the node's address.
///
/// `@safe`: the slab at the address exists, because an unreleased node or the cache keeps the slab in existence.
@safe
struct Slab {
    private static let size = 4096
    static let capacity = size / Node.stride - 1

    let address: UInt

    struct Header: ~Copyable {
        /// The number of nodes that have not been released, including nodes that were not handed out yet.
        let remaining = Atomic<Int>(Slab.capacity)
        let cache: SlabCache
        /// The next slab in a linked list of empty slabs.
        ///
        /// Only the owner of the list reads this property.
        var next: Slab?
    }

    /// Makes the slab at an address; nil if the address is 0.
    init?(address: UInt) {
        if address == 0 { return nil }
        self.address = address
    }

    /// Makes the slab that contains an address.
    init(containing address: UInt) { self.address = address & ~UInt(Slab.size - 1) }

    private var header: UnsafeMutablePointer<Header> {
        // Safe: every slab begins with a header, from `create` to `destroy`.
        unsafe UnsafeMutablePointer(bitPattern: address).unsafelyUnwrapped
    }

    var firstNode: UInt { address + UInt(Node.stride) }
    var end: UInt { address + UInt(Slab.size) }
    var next: Slab? {
        get { unsafe header.pointee.next }
        nonmutating set { unsafe header.pointee.next = newValue }
    }

    static func create(for cache: SlabCache) -> Slab {
        let memory = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: size)
        guard unsafe Mailbox.Word.canHold(memory + (size - Node.stride)) else {
            fatalError("the machine hands out addresses of more than 48 bits, which a mailbox cannot hold")
        }
        unsafe memory.initializeMemory(as: Header.self, to: Header(cache: cache))
        for offset in stride(from: Node.stride, to: size, by: Node.stride) {
            // Safe: the address is inside the slab, and no other thread has the node yet.
            let node = unsafe Node(memory + offset)
            node.next = nil
            node.clearSecondWord()
        }
        return Slab(containing: UInt(bitPattern: memory))
    }

    func reset() { unsafe header.pointee.remaining.store(Slab.capacity, ordering: .relaxed) }

    /// Subtracts a number of released nodes, and returns the slab to its cache if all nodes are released.
    func finish(_ count: Int) {
        racePoint(.nodesAreReleased)
        let left = unsafe header.pointee.remaining.subtract(count, ordering: .acquiringAndReleasing).newValue
        if left == 0 { unsafe header.pointee.cache.giveBack(self) }
    }

    func destroy() {
        // Safe: no node of the slab is in use, and the slab is in no list.
        unsafe header.deinitialize(count: 1)
        unsafe UnsafeMutableRawPointer(header).deallocate()
    }
}

/// A count of the nodes that one thread has released, so that a slab is updated once for many nodes.
struct NodeReleaser: ~Copyable {
    private var slab: Slab?
    private var count = 0

    mutating func release(_ node: Node) { release(node, 1) }

    /// Releases a wide node, which counts as two nodes.
    mutating func releaseWide(_ node: Node) {
        node.split()
        release(node, 2)
    }

    private mutating func release(_ node: Node, _ parts: Int) {
        let nodes = Slab(containing: unsafe UInt(bitPattern: node.address))
        if nodes.address != slab?.address { flush(to: nodes) }
        count += parts
    }

    private mutating func flush(to next: Slab?) {
        slab?.finish(count)
        slab = next
        count = 0
    }

    deinit { slab?.finish(count) }
}
