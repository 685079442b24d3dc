#if HTTPServers
    internal import NIOCore

    /// The bytes of a request's body that were received and not delivered yet.
    struct RequestBody {
        /// The number of stored bytes at which the server takes no more bytes of a streamed body from the connection.
        ///
        /// The stored bytes are those that no handler has taken yet.
        static let storedLimit = 128 << 10

        /// The bytes that were received and are not delivered yet.
        private(set) var bytes: [UInt8] = []
        /// True if the bytes are delivered to the program's handler piece by piece, and not collected.
        var isStreamed = false

        /// True if no more bytes are taken before the stored ones are delivered.
        var isFull: Bool { isStreamed && bytes.count >= RequestBody.storedLimit }

        /// Stores received bytes.
        ///
        /// - Parameters:
        ///   - added: The received bytes.
        ///   - limit: The maximum number of bytes of a body that is not streamed; nil for any number.
        /// - Returns: False if the body is too long.
        mutating func take(_ added: ByteBuffer, limit: Int?) -> Bool {
            if !isStreamed, let limit, bytes.count + added.readableBytes > limit {
                bytes = []
                return false
            }
            bytes.append(contentsOf: added.readableBytesView)
            return true
        }

        /// Removes and returns the stored bytes.
        mutating func giveBytes() -> [UInt8] { exchange(&bytes, with: []) }
    }
#endif
