internal import DequeModule

/// A request body that the user writes while it is sent.
final class UploadStream {
    /// The number of unsent bytes above which the writer should wait.
    private static let highWaterMark = 256 << 10

    private var chunks = Deque<[UInt8]>()
    /// The number of bytes that were already taken out of the first chunk.
    private var given = 0
    /// The number of written bytes that libcurl has not taken yet.
    private(set) var count = 0
    /// True while the writer should wait.
    ///
    /// The value becomes true when ``count`` exceeds 256 KiB. It becomes false when ``count`` has fallen to 128 KiB or less.
    private(set) var isAboveMark = false
    /// True if ``isAboveMark`` has become false since the last call of ``takeDrained()``.
    private(set) var hasDrained = false
    /// The length of the body that the header of the request states; nil if it states none.
    private let expected: Int?
    /// The number of bytes that were given to libcurl.
    private var total = 0
    private(set) var hasEnded = false

    init(expected: Int?) { self.expected = expected }

    /// True once libcurl was given bytes, so that the body cannot be sent a second time.
    var hasBegun: Bool { total > 0 }

    /// Adds bytes to the body, unless the body has ended.
    ///
    /// - Returns: False if the writer should wait, or the body has ended.
    func append(_ bytes: [UInt8]) -> Bool {
        if hasEnded { return false }
        if !bytes.isEmpty { chunks.append(bytes) }
        count += bytes.count
        if count > UploadStream.highWaterMark { isAboveMark = true }
        return !isAboveMark
    }

    func end() { hasEnded = true }

    /// Copies the next bytes of the body into memory of libcurl.
    ///
    /// - Returns: The number of bytes; 0 at the end of the body, nil if the next bytes are not written yet.
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
        if isAboveMark && count <= UploadStream.highWaterMark / 2 {
            isAboveMark = false
            hasDrained = true
        }
        total += filled
        // Without this error, libcurl would leave the server waiting for bytes that never arrive.
        if let expected, total > expected || filled == 0 && hasEnded && total < expected {
            throw .wrongBodyLength
        }
        return filled == 0 && !hasEnded ? nil : filled
    }

    func takeDrained() -> Bool { exchange(&hasDrained, with: false) }
}
