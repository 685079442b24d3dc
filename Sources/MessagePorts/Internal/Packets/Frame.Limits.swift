extension Frame {
    /// The limits of the packets that one end of a connection can receive.
    ///
    /// Each end sends its limits to the other end with its first packet.
    struct Limits: Hashable, Sendable {
        /// The largest number of bytes of a packet's body.
        var bodyLength: UInt32
        /// The largest number of descriptors of one packet.
        var descriptorCount: UInt32

        /// True if a frame is within the limits.
        func allow(_ frame: Frame) -> Bool {
            frame.bodyLength <= Int(bodyLength) && frame.descriptorCount <= Int(descriptorCount)
        }
    }

    /// Makes a hello or a welcome, which states the limits of its sender.
    init(_ kind: Kind, limits: Limits) {
        self.init(kind: kind, id: limits.descriptorCount, number: UInt64(limits.bodyLength))
    }

    /// The limits that a hello or a welcome states.
    var limits: Limits { Limits(bodyLength: UInt32(clamping: number), descriptorCount: id) }
}
