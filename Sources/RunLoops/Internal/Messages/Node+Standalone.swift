/// Standalone nodes, which a port uses for the messages and notices that it queues beyond its limit.
///
/// A standalone node has its own memory, instead of a place in a slab. The mailbox does not count such nodes, so they take no room.
///
/// Each node contains a *mark*, which tells the node's kind. Standalone nodes have other marks than nodes in a slab. The initial
/// mark of a node in a slab is that of a single message, so the sender of a single message does not set a mark.
extension Node {
    /// The kind of a node in a port's queue.
    enum Mark: UInt8 {
        /// A message that counts towards the port's limit.
        ///
        /// Every node of a slab has this mark initially.
        case ordinary
        /// Several messages that count towards the port's limit, in a node of a slab.
        case pack
        /// A message that was queued beyond the port's limit.
        case beyondLimit
        /// A notice, instead of a message: the last send right was released.
        case noSenders
    }

    static let markOffset = 9

    /// Makes a standalone node that has the given mark; ``freeStandalone()`` frees the node.
    static func makeStandalone(_ mark: Mark) -> Node {
        let memory = UnsafeMutableRawPointer.allocate(byteCount: stride, alignment: stride)
        precondition(unsafe Mailbox.Word.canHold(memory), "a mailbox holds addresses of 48 bits")
        let node = unsafe Node(memory)
        node.next = nil
        node.setStamp(0)
        node.setMark(mark)
        return node
    }

    /// Frees a node that ``makeStandalone(_:)`` made, after its message was taken out.
    func freeStandalone() {
        // Safe: the caller owns the node, which has its own memory.
        unsafe address.deallocate()
    }

    /// Turns a wide node, which is two neighbours in a slab, into two ordinary nodes again.
    ///
    /// This restores the mark of the second node, which the contents of the wide node have overwritten.
    func split() {
        // Safe: the second half of a wide node begins one stride behind the first.
        unsafe Node(address + Node.stride).clearSecondWord()
    }

    var mark: Mark {
        // Safe: slabs and `makeStandalone` mark their nodes, and only marks are written to this byte.
        unsafe address.load(fromByteOffset: Node.markOffset, as: Mark.self)
    }

    /// True if the node's messages count towards the port's limit.
    ///
    /// In that case the node belongs to a slab.
    var takesRoom: Bool {
        switch mark {
        case .ordinary, .pack: true
        case .beyondLimit, .noSenders: false
        }
    }

    /// Sets the mark of a node that no other thread can access.
    func setMark(_ mark: Mark) {
        // Safe: only the mark uses the byte, and a mark is trivial.
        unsafe address.storeBytes(of: mark, toByteOffset: Node.markOffset, as: Mark.self)
    }
}
