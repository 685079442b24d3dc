internal import Glibc
internal import RunLoops

/// Finds the frames in bytes that arrive piece by piece.
///
/// It remembers how far it has searched for the end of a line, so that a line that comes in many pieces is searched once.
struct FrameScanner {
    let framing: Framing

    /// The number of bytes, from the first one that belongs to no frame yet, that hold no line feed.
    private var searched = 0

    init(_ framing: Framing) { self.framing = framing }

    /// The answer of a search.
    enum Finding: Equatable {
        /// A frame, and the number of bytes from the beginning of the search to the end of the frame with its ending.
        case frame(Range<Int>, consumed: Int)
        /// More bytes must arrive first.
        case incomplete
        /// The frame is longer than it may be.
        case tooLong
    }

    /// Looks for the next frame at the beginning of some bytes.
    ///
    /// After ``Finding/frame(_:consumed:)`` the next search begins behind it; after ``Finding/incomplete`` it begins with the
    /// same bytes, followed by others.
    mutating func next(in bytes: RawSpan) -> Finding {
        switch framing.kind {
        case .lines: nextLine(in: bytes)
        case .lengthPrefixed(let width): nextPrefixed(width, in: bytes)
        case .fixed:
            bytes.byteCount < framing.limit
                ? .incomplete : .frame(0..<framing.limit, consumed: framing.limit)
        }
    }

    private mutating func nextLine(in bytes: RawSpan) -> Finding {
        guard let end = lineFeed(in: bytes) else {
            searched = bytes.byteCount
            // The last byte may be the carriage return of the ending.
            return bytes.byteCount > framing.limit + 1
                || bytes.byteCount == framing.limit + 1 && !endsWithReturn(bytes)
                ? .tooLong : .incomplete
        }
        searched = 0
        let length = end > 0 && byte(end - 1, of: bytes) == 0x0d ? end - 1 : end
        return length > framing.limit ? .tooLong : .frame(0..<length, consumed: end + 1)
    }

    private func endsWithReturn(_ bytes: RawSpan) -> Bool { byte(bytes.byteCount - 1, of: bytes) == 0x0d }

    private func byte(_ index: Int, of bytes: RawSpan) -> UInt8 {
        // Safe: any bits are a byte; the index is checked.
        unsafe bytes.unsafeLoad(fromByteOffset: index, as: UInt8.self)
    }

    /// Returns the place of the first line feed, if there is one.
    private func lineFeed(in bytes: RawSpan) -> Int? {
        unsafe bytes.withUnsafeBytes { buffer in
            // Safe: the search stays within the bytes.
            guard searched < buffer.count, let start = buffer.baseAddress,
                let found = unsafe memchr(start + searched, 0x0a, buffer.count - searched)
            else { return nil }
            return unsafe UnsafeRawPointer(found) - start
        }
    }

    private func nextPrefixed(_ width: Int, in bytes: RawSpan) -> Finding {
        if bytes.byteCount < width { return .incomplete }
        var length: UInt64 = 0
        for index in 0..<width {
            length = length << 8 | UInt64(byte(index, of: bytes))
        }
        guard length <= UInt64(framing.limit) else { return .tooLong }
        let end = width + Int(length)
        return bytes.byteCount < end ? .incomplete : .frame(width..<end, consumed: end)
    }
}
