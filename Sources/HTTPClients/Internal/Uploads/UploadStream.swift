internal import DequeModule

/// The body of a request that is written while it is sent.
final class UploadStream {
    private var chunks = Deque<[UInt8]>()
    /// The number of bytes of the first chunk that were given to libcurl.
    private var given = 0
    /// The number of bytes that are stored.
    private(set) var count = 0
    /// The number of bytes of the body that the server was told; nil if it was not.
    private let expected: Int?
    /// The number of bytes that were given to libcurl.
    private var total = 0
    private(set) var hasEnded = false
    /// True from the write that exceeds the mark until the bytes have fallen to half of it.
    private var isAboveMark = false
    private var isDrained = false

    init(expected: Int?) { self.expected = expected }

    /// True once bytes were given to libcurl, which cannot be given again.
    var hasBegun: Bool { total > 0 }

    private static let highWaterMark = 256 << 10

    /// - Returns: False if the writer should wait.
    func append(_ bytes: [UInt8]) -> Bool {
        if hasEnded { return false }
        if !bytes.isEmpty { chunks.append(bytes) }
        count += bytes.count
        if count > UploadStream.highWaterMark { isAboveMark = true }
        return !isAboveMark
    }

    func end() { hasEnded = true }

    /// Copies the next bytes.
    ///
    /// - Returns: Their number; 0 at the end, nil if there are none yet.
    func give(_ room: UnsafeMutableRawBufferPointer) throws(HTTPClientError) -> Int? {
        var filled = 0
        while filled < room.count, let chunk = chunks.first {
            let part = chunk[given...].prefix(room.count - filled)
            // Safe: the part fits into the rest of the room.
            unsafe UnsafeMutableRawBufferPointer(rebasing: room[filled...]).copyBytes(from: part)
            filled += part.count
            given += part.count
            if given == chunk.count {
                chunks.removeFirst()
                given = 0
            }
        }
        count -= filled
        total += filled
        // libcurl would leave the server waiting for bytes that never come.
        if let expected, total > expected || filled == 0 && hasEnded && total < expected {
            throw .wrongBodyCount
        }
        if isAboveMark && count <= UploadStream.highWaterMark / 2 {
            isAboveMark = false
            isDrained = true
        }
        return filled == 0 && !hasEnded ? nil : filled
    }

    /// True once after the bytes have fallen to half of the mark.
    var hasDrained: Bool { isDrained }

    func takeDrained() -> Bool {
        defer { isDrained = false }
        return isDrained
    }
}
