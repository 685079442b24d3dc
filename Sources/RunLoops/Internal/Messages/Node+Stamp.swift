/// The stamp of a node: the time at which the flight recorder saw the message being sent.
///
/// Its four bytes are the last ones of the node's second word, which nothing else uses. While nothing is recorded they are
/// neither written nor read. A node that was sent before a recording began may carry an old stamp; a snapshot ignores stamps
/// from before its recording.
extension Node {
    private static let stampOffset = 12

    /// Takes the ``MessageStamp``; 0 for none.
    ///
    /// It belongs to the first of the messages in the node.
    func takeStamp() -> UInt32 {
        // Safe: every node of a slab, and every other one, has these bytes written before it is handed out.
        let stamp = unsafe address.load(fromByteOffset: Node.stampOffset, as: UInt32.self)
        if stamp != 0 { setStamp(0) }
        return stamp
    }

    @inline(__always)
    func setStamp(_ stamp: UInt32) {
        // Safe: the bytes belong to the stamp, and to the owner of the node.
        unsafe address.storeBytes(of: stamp, toByteOffset: Node.stampOffset, as: UInt32.self)
    }

    /// Makes the node an ordinary one without a stamp.
    func clearSecondWord() {
        // Safe: the second word belongs to the kind, the mark and the stamp; 0 is the ordinary mark.
        unsafe address.storeBytes(of: 0, toByteOffset: 8, as: UInt64.self)
    }
}
