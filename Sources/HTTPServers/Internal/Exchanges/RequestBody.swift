/// The bytes of a request body that were received and not delivered yet.
struct RequestBody {
    /// The number of stored bytes at which the server takes no more bytes of a streamed body from the connection.
    ///
    /// The stored bytes are those that no handler has taken yet.
    static let storedLimit = 128 << 10
    /// The number of bytes that the server still receives, and discards, after a body has exceeded its limit.
    ///
    /// If the server closed the connection at the limit, the client might not read the answer, which is status 413.
    static let discardedLimit = 1 << 20

    /// The result of offering bytes to the body.
    enum Taking: Equatable {
        case taken
        /// No byte was taken, because ``storedLimit`` is reached: the stored bytes must be delivered first.
        case full
        /// The body exceeds its limit by more than ``discardedLimit``.
        case refused
    }

    /// The bytes that were received and are not delivered yet.
    private(set) var bytes: [UInt8] = []
    /// True if the bytes are delivered to the user's handler piece by piece, and not collected.
    var isStreamed = false
    /// True if the body is longer than its limit, so that its bytes are discarded.
    private(set) var isTooLong = false
    private var count = 0

    /// Stores received bytes, or discards them if the body is too long.
    ///
    /// - Parameters:
    ///   - added: The received bytes.
    ///   - limit: The maximum number of bytes of a body that is not streamed.
    /// - Returns: The result of the call.
    mutating func take(_ added: UnsafeRawBufferPointer, limit: Int) -> Taking {
        if isStreamed {
            if bytes.count >= RequestBody.storedLimit { return .full }
            // Safe: the bytes are copied during the call.
            unsafe bytes.append(contentsOf: added)
            return .taken
        }
        count += added.count
        if count <= limit {
            // Safe: the bytes are copied during the call.
            unsafe bytes.append(contentsOf: added)
            return .taken
        }
        isTooLong = true
        bytes = []
        return count - limit > RequestBody.discardedLimit ? .refused : .taken
    }

    /// Removes and returns the stored bytes.
    mutating func giveBytes() -> [UInt8] {
        defer { bytes = [] }
        return bytes
    }
}
