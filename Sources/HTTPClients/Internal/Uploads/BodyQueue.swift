internal import DequeModule

/// A queue of body bytes that were written, and are not sent yet.
struct BodyQueue {
    private var chunks = Deque<[UInt8]>()
    /// The number of bytes that were already taken out of the first chunk.
    private var given = 0
    /// The number of bytes in the queue.
    private(set) var count = 0
    /// True if, since the last call of ``takeDrained()``, ``count`` has fallen from above the high-water mark to half of the mark.
    private(set) var hasDrained = false
    /// True if ``count`` has exceeded the high-water mark, and has not fallen to half of the mark since then.
    private(set) var isAboveMark = false
    private let highWaterMark: Int

    /// Creates an empty queue.
    ///
    /// - Parameter highWaterMark: The number of bytes above which a writer should wait.
    init(highWaterMark: Int) { self.highWaterMark = highWaterMark }

    /// Adds bytes at the end of the queue.
    ///
    /// - Returns: False if the writer should wait.
    mutating func append(_ bytes: [UInt8]) -> Bool {
        if !bytes.isEmpty { chunks.append(bytes) }
        count += bytes.count
        if count > highWaterMark { isAboveMark = true }
        return !isAboveMark
    }

    /// Moves as many bytes out of the queue as fit into a buffer.
    ///
    /// - Parameter room: The buffer.
    /// - Returns: The number of bytes moved.
    mutating func give(_ room: UnsafeMutableRawBufferPointer) -> Int {
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
        if isAboveMark && count <= highWaterMark / 2 {
            isAboveMark = false
            hasDrained = true
        }
        return filled
    }

    /// Returns true if, since the last call, ``count`` has fallen from above the high-water mark to half of the mark.
    mutating func takeDrained() -> Bool { exchange(&hasDrained, with: false) }
}
