/// The stamp of a node: the time at which the message in the node was sent, for the flight recorder.
///
/// The stamp is in the last four bytes of the node's second word, which have no other use. While nothing is recorded, no stamp is
/// written. These bytes then change only when the node's kind is stored, because storing the kind writes the whole second word. A
/// node that was sent before a recording began can carry an old stamp. A snapshot ignores stamps from before its recording.
extension Node {
    private static let stampOffset = 12

    /// Removes and returns the ``MessageStamp`` of the first message in the node; 0 for no stamp.
    func takeStamp() -> UInt32 {
        // Safe: in every node, these bytes are written before the node is handed out.
        let stamp = unsafe address.load(fromByteOffset: Node.stampOffset, as: UInt32.self)
        if stamp != 0 { setStamp(0) }
        return stamp
    }

    @inline(__always)
    func setStamp(_ stamp: UInt32) {
        // Safe: only the stamp uses the bytes, and only the owner of the node accesses them.
        unsafe address.storeBytes(of: stamp, toByteOffset: Node.stampOffset, as: UInt32.self)
    }

    /// Sets the node's mark to ``Mark/ordinary``, and removes the node's stamp.
    func clearSecondWord() {
        // Safe: only the kind, the mark and the stamp use the second word; 0 is the ordinary mark.
        unsafe address.storeBytes(of: 0, toByteOffset: 8, as: UInt64.self)
    }
}
