extension Frame {
    /// What one end can receive, which it tells the other with its first packet.
    struct Limits: Hashable, Sendable {
        /// How long the body of a message may be.
        var bodyLength: UInt32
        /// How many descriptors may come with it.
        var descriptorCount: UInt32

        /// How long they are as a body.
        static let encodedLength = 8

        init(bodyLength: UInt32, descriptorCount: UInt32) {
            self.bodyLength = bodyLength
            self.descriptorCount = descriptorCount
        }

        /// The body, little-endian in memory.
        var encoded: InlineArray<1, UInt64> {
            [(UInt64(bodyLength) | UInt64(descriptorCount) << 32).littleEndian]
        }

        /// Takes a body apart whose frame was decoded, and so has the right length.
        init(decoding body: UnsafeRawBufferPointer) {
            precondition(body.count == Limits.encodedLength, "the frame was looked at before")
            // Safe: it is as long as that.
            let number = UInt64(littleEndian: unsafe body.loadUnaligned(as: UInt64.self))
            bodyLength = UInt32(truncatingIfNeeded: number)
            descriptorCount = UInt32(truncatingIfNeeded: number >> 32)
        }

        /// Whether a frame is within them.
        func allow(_ frame: Frame) -> Bool {
            frame.bodyLength <= Int(bodyLength) && frame.descriptorCount <= Int(descriptorCount)
        }
    }
}
