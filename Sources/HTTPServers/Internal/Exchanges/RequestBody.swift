/// The body of a request, as it is received.
struct RequestBody {
    /// The number of bytes that are stored for a handler, from which on further ones are left in the connection.
    static let storedLimit = 128 << 10
    /// The number of bytes beyond the limit that are received and discarded, so that the client reads the answer.
    static let discardedLimit = 1 << 20

    /// The result of taking bytes.
    enum Taking: Equatable {
        case taken
        /// No byte was taken: the handler has to take those that are stored.
        case full
        /// The body is far beyond the limit.
        case refused
    }

    /// The bytes that no one was given yet.
    private(set) var bytes: [UInt8] = []
    /// True if the bytes go to a handler, piece by piece.
    var isStreamed = false
    /// True if the body is longer than the limit.
    private(set) var isTooLong = false
    private var count = 0

    /// Takes bytes.
    ///
    /// - Parameters:
    ///   - added: The bytes.
    ///   - limit: The most bytes of a body that is not streamed.
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

    /// Gives the bytes away.
    mutating func giveBytes() -> [UInt8] {
        defer { bytes = [] }
        return bytes
    }
}
