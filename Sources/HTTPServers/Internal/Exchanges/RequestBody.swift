/// The part of a request body that was received so far.
struct RequestBody {
    /// The maximum number of received bytes of a streamed body that no handler has taken yet.
    ///
    /// At the limit, no further bytes are taken from the connection.
    static let storedLimit = 128 << 10
    /// The number of bytes beyond the limit of a body that are still received and discarded, so that the client reads the answer.
    static let discardedLimit = 1 << 20

    /// The result of taking bytes.
    enum Taking: Equatable {
        case taken
        /// No byte was taken, because the stored bytes must be delivered first.
        case full
        /// The body exceeds its limit by more than ``discardedLimit``.
        case refused
    }

    /// The received bytes that are not yet delivered.
    private(set) var bytes: [UInt8] = []
    /// True if the bytes are delivered to a handler, piece by piece.
    var isStreamed = false
    /// True if the body is longer than the limit.
    private(set) var isTooLong = false
    private var count = 0

    /// Takes bytes.
    ///
    /// - Parameters:
    ///   - added: The bytes.
    ///   - limit: The maximum number of bytes of a body that is not streamed.
    /// - Returns: The result.
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
