extension Frame {
    /// The limits of what one end can receive, which it sends to the other end with its first packet.
    struct Limits: Hashable, Sendable {
        /// The largest length of a body.
        var bodyLength: UInt32
        /// The largest number of descriptors of one message.
        var descriptorCount: UInt32

        /// True if a frame is within the limits.
        func allow(_ frame: Frame) -> Bool {
            frame.bodyLength <= Int(bodyLength) && frame.descriptorCount <= Int(descriptorCount)
        }
    }

    /// Makes a greeting: a hello or a welcome.
    init(_ kind: Kind, limits: Limits) {
        self.init(kind: kind, id: limits.descriptorCount, number: UInt64(limits.bodyLength))
    }

    /// The limits that a hello or a welcome states.
    var limits: Limits { Limits(bodyLength: UInt32(clamping: number), descriptorCount: id) }
}
