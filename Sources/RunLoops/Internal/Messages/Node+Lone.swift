/// Nodes that come alone, and not from a slab, for what a port's queue holds beyond its limit.
///
/// The mailbox does not count them, so they take nobody's room. The receiver tells them from the others by a mark
/// that no node of a slab has; so senders of ordinary messages need not write one.
extension Node {
    /// What a node in a port's queue is.
    enum Mark: UInt8 {
        /// A message that counts: every node of a slab.
        case ordinary
        /// A message beyond the limit.
        case beyondLimit
        /// No message: the last send right has gone.
        case noSenders
    }

    static let markOffset = 9

    /// Makes a node with a mark; ``freeLone()`` frees it.
    static func makeLone(_ mark: Mark) -> Node {
        let memory = UnsafeMutableRawPointer.allocate(byteCount: stride, alignment: stride)
        precondition(unsafe Mailbox.Word.canHold(memory), "a mailbox holds addresses of 48 bits")
        let node = unsafe Node(memory)
        node.next = nil
        node.setMark(mark)
        return node
    }

    /// Frees a node of ``makeLone(_:)``, from which the message was taken.
    func freeLone() {
        // Safe: the caller owns the node, and a node with another mark than this is alone in its memory.
        unsafe address.deallocate()
    }

    /// Makes a wide node two ordinary ones again: what it held has written over the second one's mark.
    func split() {
        // Safe: the second half of a wide node begins one stride behind the first.
        unsafe Node(address + Node.stride).setMark(.ordinary)
    }

    var mark: Mark {
        // Safe: slabs and `makeLone` mark their nodes, and nothing else writes this byte.
        unsafe address.load(fromByteOffset: Node.markOffset, as: Mark.self)
    }

    /// Marks a node, once, before anybody has it.
    func setMark(_ mark: Mark) {
        // Safe: the byte belongs to the mark, and it is trivial to overwrite.
        unsafe address.storeBytes(of: mark, toByteOffset: Node.markOffset, as: Mark.self)
    }
}
