internal import HTTPMessages

/// A request body that is written while it is sent.
final class UploadStream {
    private var queue = BodyQueue(highWaterMark: 256 << 10)
    /// The length of the body as the request's header states it; nil if the header states none.
    private let expected: Int?
    /// The number of bytes that were given to libcurl.
    private var total = 0
    private(set) var hasEnded = false

    init(expected: Int?) { self.expected = expected }

    /// The number of bytes that are stored.
    var count: Int { queue.count }

    /// True from the write that makes `count` exceed the mark until `count` has fallen to half of the mark.
    var isAboveMark: Bool { queue.isAboveMark }

    /// True once libcurl was given bytes, so that the body cannot be sent a second time.
    var hasBegun: Bool { total > 0 }

    /// Adds bytes to the body, unless the body has ended.
    ///
    /// - Returns: False if the writer should wait, or the body has ended.
    func append(_ bytes: [UInt8]) -> Bool { hasEnded ? false : queue.append(bytes) }

    func end() { hasEnded = true }

    /// Copies the next bytes.
    ///
    /// - Returns: The number of bytes; 0 at the end, nil if there are none yet.
    func give(_ room: UnsafeMutableRawBufferPointer) throws(HTTPClientError) -> Int? {
        let filled = unsafe queue.give(room)
        total += filled
        // Otherwise libcurl would leave the server waiting for bytes that never arrive.
        if let expected, total > expected || filled == 0 && hasEnded && total < expected {
            throw .wrongBodyCount
        }
        return filled == 0 && !hasEnded ? nil : filled
    }

    /// True after `count` has fallen from above the mark to half of the mark, until `takeDrained()` is called.
    var hasDrained: Bool { queue.hasDrained }

    func takeDrained() -> Bool { queue.takeDrained() }
}
