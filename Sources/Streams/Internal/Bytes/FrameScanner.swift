internal import Glibc
internal import RunLoops

/// A search for frames in bytes that arrive piece by piece.
///
/// The scanner remembers how far it has searched for the end of a line or delimited frame. So it searches each byte only once, even
/// if a line arrives in many pieces.
struct FrameScanner {
    let framing: Framing

    /// The number of bytes at the beginning of the current line or frame that are known not to contain its end.
    private var searched = 0

    init(_ framing: Framing) { self.framing = framing }

    /// The result of a search.
    enum Finding: Equatable {
        /// The range of a frame, and the number of bytes that the frame occupies with its prefix or line ending.
        case frame(Range<Int>, consumed: Int)
        /// More bytes must arrive first.
        case incomplete
        /// The frame exceeds this limit.
        case beyond(Connection.Limit)
    }

    private var tooLong: Finding { .beyond(.frame(framing.limit)) }

    /// Searches for the next frame at the beginning of the given bytes.
    ///
    /// If the result is ``Finding/frame(_:consumed:)``, begin the next search after the consumed bytes. If the result is
    /// ``Finding/incomplete``, pass the same bytes again, followed by new bytes.
    mutating func next(in bytes: RawSpan) -> Finding {
        switch framing.kind {
        case .lines: nextLine(in: bytes)
        case .delimited(let delimiter): nextDelimited(delimiter, in: bytes)
        case .lengthPrefixed(let width): nextPrefixed(width, in: bytes)
        case .fixed:
            bytes.byteCount < framing.limit
                ? .incomplete : .frame(0..<framing.limit, consumed: framing.limit)
        }
    }

    private mutating func nextLine(in bytes: RawSpan) -> Finding {
        guard let end = position(of: 0x0a, in: bytes) else {
            searched = bytes.byteCount
            // The last byte may be the carriage return of a line ending, which does not count towards the limit.
            return bytes.byteCount > framing.limit + 1
                || bytes.byteCount == framing.limit + 1 && !endsWithReturn(bytes)
                ? tooLong : .incomplete
        }
        searched = 0
        let length = end > 0 && byte(end - 1, of: bytes) == 0x0d ? end - 1 : end
        return length > framing.limit ? tooLong : .frame(0..<length, consumed: end + 1)
    }

    private mutating func nextDelimited(_ delimiter: UInt8, in bytes: RawSpan) -> Finding {
        guard let end = position(of: delimiter, in: bytes) else {
            searched = bytes.byteCount
            return bytes.byteCount > framing.limit ? tooLong : .incomplete
        }
        searched = 0
        return end > framing.limit ? tooLong : .frame(0..<end, consumed: end + 1)
    }

    private func endsWithReturn(_ bytes: RawSpan) -> Bool { byte(bytes.byteCount - 1, of: bytes) == 0x0d }

    private func byte(_ index: Int, of bytes: RawSpan) -> UInt8 {
        // Safe: any bits are a valid byte, and the index is checked.
        unsafe bytes.unsafeLoad(fromByteOffset: index, as: UInt8.self)
    }

    /// Returns the index of the first byte of a value; nil if there is none.
    private func position(of value: UInt8, in bytes: RawSpan) -> Int? {
        unsafe bytes.withUnsafeBytes { buffer in
            // Safe: the search stays within the bytes.
            guard searched < buffer.count, let start = buffer.baseAddress,
                let found = unsafe memchr(start + searched, CInt(value), buffer.count - searched)
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
        guard length <= UInt64(framing.limit) else { return tooLong }
        let end = width + Int(length)
        return bytes.byteCount < end ? .incomplete : .frame(width..<end, consumed: end)
    }
}
