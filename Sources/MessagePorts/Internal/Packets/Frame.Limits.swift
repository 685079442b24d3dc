extension Frame {
    /// What one end can receive, which it tells the other with its first packet.
    struct Limits: Hashable, Sendable {
        /// How long the body of a message may be.
        var bodyLength: UInt32
        /// How many descriptors may come with it.
        var descriptorCount: UInt32

        /// Whether a frame is within them.
        func allow(_ frame: Frame) -> Bool {
            frame.bodyLength <= Int(bodyLength) && frame.descriptorCount <= Int(descriptorCount)
        }
    }

    /// Makes a greeting: a hello or a welcome.
    init(_ kind: Kind, limits: Limits) {
        self.init(kind: kind, id: limits.descriptorCount, number: UInt64(limits.bodyLength))
    }

    /// What a greeting says.
    var limits: Limits { Limits(bodyLength: UInt32(clamping: number), descriptorCount: id) }
}
