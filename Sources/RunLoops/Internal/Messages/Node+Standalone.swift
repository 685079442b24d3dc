/// Nodes that come alone, and not from a slab, for what a port's queue holds beyond its limit.
///
/// The mailbox does not count them, so they take nobody's room. The receiver tells them from the others by a mark
/// that no node of a slab has; so senders of single messages need not write one.
extension Node {
    /// What a node in a port's queue is.
    enum Mark: UInt8 {
        /// A message that counts: every node of a slab.
        case ordinary
        /// Several messages that count, in a node of a slab.
        case pack
        /// A message beyond the limit.
        case beyondLimit
        /// No message: the last send right has gone.
        case noSenders
    }

    static let markOffset = 9

    /// Makes a node with a mark; ``freeStandalone()`` frees it.
    static func makeStandalone(_ mark: Mark) -> Node {
        let memory = UnsafeMutableRawPointer.allocate(byteCount: stride, alignment: stride)
        precondition(unsafe Mailbox.Word.canHold(memory), "a mailbox holds addresses of 48 bits")
        let node = unsafe Node(memory)
        node.next = nil
        node.setMark(mark)
        return node
    }

    /// Frees a node of ``makeStandalone(_:)``, from which the message was taken.
    func freeStandalone() {
        // Safe: the caller owns the node, and one that is made alone is alone in its memory.
        unsafe address.deallocate()
    }

    /// Makes a wide node two ordinary ones again: what it held has written over the second one's mark.
    func split() {
        // Safe: the second half of a wide node begins one stride behind the first.
        unsafe Node(address + Node.stride).setMark(.ordinary)
    }

    var mark: Mark {
        // Safe: slabs and `makeStandalone` mark their nodes, and nothing but marks is written to this byte.
        unsafe address.load(fromByteOffset: Node.markOffset, as: Mark.self)
    }

    /// Whether its messages take room, and the node is one of a slab.
    var takesRoom: Bool {
        switch mark {
        case .ordinary, .pack: true
        case .beyondLimit, .noSenders: false
        }
    }

    /// Marks a node that nobody else has.
    func setMark(_ mark: Mark) {
        // Safe: the byte belongs to the mark, and it is trivial to overwrite.
        unsafe address.storeBytes(of: mark, toByteOffset: Node.markOffset, as: Mark.self)
    }
}
