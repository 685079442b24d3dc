/// A message to a loop or a port: 64 bytes of raw memory, alone on its cache line.
///
/// The first word is the link to the next node, the second word contains the kind of the contents, and 48 bytes are left for the
/// contents. One byte of the second word is the node's ``Mark``. Each node has one owner at a time: the sender until it has pushed
/// the node, the mailbox until the node is taken, and the receiving thread until it has released the node.
///
/// `@safe`: the pointer always refers to a whole node, 64-byte aligned, that exists until it is released. The ownership rule above
/// keeps two threads from accessing one node at the same time, so threads can pass nodes to each other (`@unchecked Sendable`).
@safe @usableFromInline
struct Node: Equatable, @unchecked Sendable {
    @usableFromInline
    let address: UnsafeMutableRawPointer

    static let stride = 64
    /// The size in bytes of a wide node: two adjacent nodes of one slab, for contents that are too large for one node.
    @usableFromInline static let wideStride = 2 * stride
    private static let kindOffset = 8
    @usableFromInline static let payloadOffset = 16
    /// The largest size, in bytes, of a message that is stored in the node itself; a larger message is stored in a box.
    @usableFromInline static let payloadCapacity = 48

    /// The kind of the contents of a node in a loop's mailbox.
    enum Kind: UInt8 {
        /// A ``BlockMessage`` for the common modes.
        case block
        /// A ``BlockMessage`` that names its modes.
        case blockInModes
        /// A ``Parcel`` for the common modes, in a wide node, which is two adjacent nodes.
        case parcel
        /// A ``Parcel`` that names its modes, in a wide node, which is two adjacent nodes.
        case parcelInModes
        /// A job of an actor that runs on the loop.
        case job
        /// A job of a task that prefers the loop.
        case preferredJob
        /// A retained ``ReadyNode``: an input of the loop has become ready.
        case signal
        /// No contents: the node tells the loop that a thread has made a request, for example with `stop()`.
        case control
    }

    init(_ address: UnsafeMutableRawPointer) { unsafe self.address = address }

    /// Returns a node for the calling thread to fill and send.
    @usableFromInline
    static func make() -> Node { SlabCache.takeNode() }

    @usableFromInline
    static func == (left: Node, right: Node) -> Bool { unsafe left.address == right.address }

    @usableFromInline
    var next: Node? {
        get {
            // Safe: every node's first word is written before it is read, here or in `Mailbox.push`.
            unsafe address.load(as: UnsafeMutableRawPointer?.self).map { unsafe Node($0) }
        }
        nonmutating set {
            // Safe: only the link uses the first word, and a link is trivial.
            unsafe address.storeBytes(of: newValue?.address, as: UnsafeMutableRawPointer?.self)
        }
    }

    /// Sets the link to the next node, but writes to this node only if the link changes.
    ///
    /// The node of a signal is sent again and again, usually with the same link. As long as no thread writes to it, it stays in
    /// every processor's cache.
    func link(to node: Node?) { if next != node { next = node } }

    /// The kind of the contents.
    ///
    /// Setting the kind also sets the node's ``Mark`` to ``Mark/ordinary``, and removes the time stamp of an earlier message if
    /// there is one.
    var kind: Kind {
        get {
            // Safe: only the kind of nodes in a loop's mailbox is loaded, and each of these nodes has a kind.
            unsafe address.load(fromByteOffset: Node.kindOffset, as: Kind.self)
        }
        nonmutating set {
            // Safe: only the kind, the mark and the stamp use the second word; 0 is the ordinary mark. The kind is the first byte.
            unsafe address.storeBytes(
                of: UInt64(newValue.rawValue).littleEndian, toByteOffset: Node.kindOffset, as: UInt64.self)
        }
    }

    /// Stores a message in the node, or in a box if the message is too large.
    @inlinable
    func store<Message>(_ message: consuming Message) {
        // Safe: the payload is uninitialized memory that only the owner of this node touches, 16-byte aligned. A message that does
        // not fit gets its own box, which `move` frees.
        if Node.holdsInline(Message.self) {
            unsafe slot(0, of: Message.self).initialize(to: message)
        } else {
            let box = UnsafeMutablePointer<Message>.allocate(capacity: 1)
            unsafe box.initialize(to: message)
            unsafe (address + Node.payloadOffset).storeBytes(
                of: UnsafeMutableRawPointer(box), as: UnsafeMutableRawPointer.self)
        }
    }

    /// Moves a message out of the node.
    ///
    /// If the node is a pack, this moves the message at `index`.
    @inlinable
    func move<Message>(_ type: Message.Type, at index: Int = 0) -> Message {
        // Safe: this is called once for each stored message, with the same type.
        if Node.holdsInline(Message.self) { return unsafe slot(index, of: Message.self).move() }
        let box = unsafe (address + Node.payloadOffset).load(as: UnsafeMutableRawPointer.self)
            .assumingMemoryBound(to: Message.self)
        defer { unsafe box.deallocate() }
        return unsafe box.move()
    }

    /// Reads a small trivial message without moving it out of the node.
    func peek<Message: BitwiseCopyable>(_ type: Message.Type) -> Message {
        // Safe: the node holds such a message.
        unsafe address.load(fromByteOffset: Node.payloadOffset, as: Message.self)
    }

    @inlinable @inline(__always)
    static func holdsInline<Message>(_ type: Message.Type) -> Bool {
        MemoryLayout<Message>.size <= payloadCapacity && MemoryLayout<Message>.alignment <= 16
    }
}

/// A linked list of nodes, in the order in which they were sent.
///
/// One thread owns the list and its nodes.
struct NodeList {
    private(set) var first: Node?
    private var last: Node?
    private(set) var count = 0

    init() {}

    /// Makes a list of one node, which links to no other one.
    init(_ only: Node) {
        first = only
        last = only
        count = 1
    }

    var isEmpty: Bool { first == nil }

    mutating func append(_ node: Node) {
        node.next = nil
        if let last { last.next = node } else { first = node }
        last = node
        count += 1
    }

    mutating func append(_ list: NodeList) {
        guard let listFirst = list.first else { return }
        if let last { last.next = listFirst } else { first = listFirst }
        last = list.last
        count += list.count
    }

    mutating func prepend(_ node: Node) {
        node.link(to: first)
        first = node
        if last == nil { last = node }
        count += 1
    }

    mutating func popFirst() -> Node? {
        guard let node = first else { return nil }
        removeFirst()
        return node
    }

    mutating func removeFirst() {
        first = first?.next
        if first == nil { last = nil }
        count &-= 1
    }

    /// Removes all nodes, and returns them.
    mutating func removeAll() -> NodeList {
        let all = self
        self = NodeList()
        return all
    }
}
