/// The body of a request, as it is received.
struct RequestBody {
    /// The number of bytes stored for a handler at which further bytes are left in the connection.
    static let storedLimit = 128 << 10
    /// The number of bytes beyond the limit that are received and discarded, so that the client reads the answer.
    static let discardedLimit = 1 << 20

    /// The result of taking bytes.
    enum Taking: Equatable {
        case taken
        /// No byte was taken: the handler must take the stored bytes first.
        case full
        /// The body is far beyond the limit.
        case refused
    }

    /// The bytes that were not delivered yet.
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

    /// Moves the stored bytes out.
    mutating func giveBytes() -> [UInt8] {
        defer { bytes = [] }
        return bytes
    }
}
