internal import CThreads
internal import Synchronization

/// The source of a thread's nodes: slabs of 4 KiB that the thread fills from front to back.
///
/// A sender takes the next node of its thread's current slab, without malloc and without a search. A receiver counts, for each
/// slab, the nodes that it has finished with, and the last one of a slab sends the whole slab back to its cache. So a message
/// costs one addition on each side, and each slab costs one exchange between threads. A burst takes as many slabs as it needs.
/// Of the empty slabs, up to ``spareLimit`` wait for reuse, and the others are freed. So a queue of steady length allocates
/// nothing, however long it is.
///
/// A slab refers to its cache, so the cache outlives its thread until the last of its slabs has come back.
///
/// > Thread safety: ``takeNode()`` and ``close()`` from the cache's thread; slabs come back on any thread.
@safe
struct SlabCache {
    /// The most empty slabs that one thread keeps for reuse; together they have room for about 4,000 messages.
    static let spareLimit = 64

    /// `@safe`: the memory is made by `create`, and freed only when neither the thread nor a slab needs it.
    private let storage: UnsafeMutablePointer<Storage>

    /// The state of a cache.
    ///
    /// Its thread accesses all of it; other threads access only the atomics.
    struct Storage: ~Copyable {
        /// The next node to hand out, and the end of the current slab.
        var cursor: UInt = 0
        var end: UInt = 0
        /// The list of empty slabs that are ready for reuse.
        var spares: Slab?
        /// A stack of slabs that came back: the address of the newest one, or 1 once the thread has ended.
        let returned = Atomic<UInt>(0)
        /// The number of slabs in the two lists above.
        let idle = Atomic<Int>(0)
        /// The number of slabs, and 1 for the thread.
        let users = Atomic<Int>(1)
    }

    private static let closed: UInt = 1

    /// Returns a node for the calling thread to fill and push.
    @inline(__always)
    static func takeNode() -> Node { current.take(Node.stride) }

    /// Returns a wide node for the calling thread to fill and push.
    static func takeWideNode() -> Node {
        let cache = current
        // Safe: the cache's own thread.
        let left = unsafe cache.storage.pointee.end - cache.storage.pointee.cursor
        if left == UInt(Node.stride) {
            // The slab has space for one half, which is never handed out, so it counts as released.
            let last = Slab(containing: unsafe cache.storage.pointee.cursor)
            unsafe cache.storage.pointee.cursor = cache.storage.pointee.end
            last.finish(1)
        }
        return cache.take(Node.wideStride)
    }

    @inline(__always)
    private static var current: SlabCache {
        // Safe: the thread's own pointer, put there by `makeCurrent` below.
        if let known = unsafe runloops_thread_slabs() {
            return unsafe SlabCache(storage: known.assumingMemoryBound(to: Storage.self))
        }
        return makeCurrent()
    }

    /// Takes this many bytes from the current slab, which has room for them or is used up.
    @inline(__always)
    private func take(_ size: Int) -> Node {
        if unsafe storage.pointee.cursor == storage.pointee.end { refill() }
        let address = unsafe storage.pointee.cursor
        unsafe storage.pointee.cursor = address &+ UInt(size)
        // Safe: between the current slab's first node and its end, so not null and a whole node.
        return unsafe Node(UnsafeMutableRawPointer(bitPattern: address).unsafelyUnwrapped)
    }

    @inline(never)
    private func refill() {
        // Safe: the cache's own thread; others access only the atomics.
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
                // Other threads only push, and the owner takes all at once, so an address that comes back is harmless.
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

    /// Subtracts one user.
    ///
    /// The last one frees the cache.
    private func release() {
        let left = unsafe storage.pointee.users.subtract(1, ordering: .acquiringAndReleasing).newValue
        if left == 0 {
            // Safe: the thread has ended and no slab is left that could come back.
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
        // Nodes of the current slab that were never handed out do not come back by themselves.
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

/// 4 KiB of memory for nodes, aligned to its size, so that the slab of a node is found from the node's address.
///
/// `@safe`: the address is always that of a slab which is kept by an unreleased node or by the cache.
@safe
struct Slab {
    private static let size = 4096
    static let capacity = size / Node.stride - 1

    let address: UInt

    struct Header: ~Copyable {
        /// The number of nodes that have not been released, handed out or not.
        let remaining = Atomic<Int>(Slab.capacity)
        let cache: SlabCache
        /// The next slab in a list of empty ones; guarded by the owner of the list.
        var next: Slab?
    }

    /// Makes the slab at this address, or nil if the address is 0.
    init?(address: UInt) {
        if address == 0 { return nil }
        self.address = address
    }

    /// Makes the slab that contains this address.
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
            // Safe: inside the slab, and no other thread has the node yet.
            let node = unsafe Node(memory + offset)
            node.next = nil
            node.clearSecondWord()
        }
        return Slab(containing: UInt(bitPattern: memory))
    }

    func reset() { unsafe header.pointee.remaining.store(Slab.capacity, ordering: .relaxed) }

    /// Releases this many of the slab's nodes.
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

/// A count of the nodes that one thread has finished with, so that a slab is updated once for many of them.
struct NodeReleaser: ~Copyable {
    private var slab: Slab?
    private var count = 0

    mutating func release(_ node: Node) { release(node, 1) }

    /// Releases a wide node.
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
