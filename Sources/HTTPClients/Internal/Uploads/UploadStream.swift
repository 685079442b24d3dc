/// A request body that the user writes while it is sent.
final class UploadStream {
    private var queue = BodyQueue(highWaterMark: 256 << 10)
    /// The length of the body that the header of the request states; nil if it states none.
    private let expected: Int?
    /// The number of bytes that were given to libcurl.
    private var total = 0
    private(set) var hasEnded = false

    init(expected: Int?) { self.expected = expected }

    /// The number of written bytes that libcurl has not taken yet.
    var count: Int { queue.count }

    /// True while the writer should wait.
    ///
    /// The value becomes true when ``count`` exceeds 256 KiB. It becomes false when ``count`` has fallen to 128 KiB or less.
    var isAboveMark: Bool { queue.isAboveMark }

    /// True once libcurl was given bytes, so that the body cannot be sent a second time.
    var hasBegun: Bool { total > 0 }

    /// Adds bytes to the body, unless the body has ended.
    ///
    /// - Returns: False if the writer should wait, or the body has ended.
    func append(_ bytes: [UInt8]) -> Bool { hasEnded ? false : queue.append(bytes) }

    func end() { hasEnded = true }

    /// Copies the next bytes of the body into memory of libcurl.
    ///
    /// - Returns: The number of bytes; 0 at the end of the body, nil if the next bytes are not written yet.
    func give(_ room: UnsafeMutableRawBufferPointer) throws(HTTPClientError) -> Int? {
        let filled = unsafe queue.give(room)
        total += filled
        // Without this error, libcurl would leave the server waiting for bytes that never arrive.
        if let expected, total > expected || filled == 0 && hasEnded && total < expected {
            throw .wrongBodyLength
        }
        return filled == 0 && !hasEnded ? nil : filled
    }

    /// True if ``isAboveMark`` has become false since the last call of ``takeDrained()``.
    var hasDrained: Bool { queue.hasDrained }

    func takeDrained() -> Bool { queue.takeDrained() }
}
