/// Bytes that were received and that the handler has not consumed.
///
/// The buffer is usually empty, because bytes that a handler consumes immediately are never stored.
struct InputBuffer: ~Copyable {
    private var bytes: [UInt8] = []
    private var start = 0

    var count: Int { bytes.count - start }

    var isEmpty: Bool { count == 0 }

    /// The capacity in bytes above which an empty buffer frees its memory.
    private static var keptCapacity: Int { 4096 }

    func withBytes<Result>(_ body: (RawSpan) -> Result) -> Result {
        // Safe: a byte has no padding.
        body(unsafe bytes.span.bytes.extracting(droppingFirst: start))
    }

    mutating func append(_ added: RawSpan) {
        if start > 0 && start >= bytes.count / 2 {
            bytes.removeSubrange(..<start)
            start = 0
        }
        // Safe: the bytes are copied while the span lives.
        unsafe added.withUnsafeBytes { unsafe bytes.append(contentsOf: $0) }
    }

    /// Inserts bytes before all others.
    mutating func prepend(_ added: RawSpan) {
        if added.isEmpty { return }
        // Safe: the bytes are copied while the span lives.
        unsafe added.withUnsafeBytes { unsafe bytes.replaceSubrange(..<start, with: $0) }
        start = 0
    }

    /// Moves the first bytes to a place in memory, and returns their number.
    mutating func move(to place: UnsafeMutableRawBufferPointer) -> Int {
        let number = min(count, place.count)
        // Safe: no more bytes are copied than there is room for.
        unsafe bytes.withUnsafeBytes {
            unsafe place.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[start..<start + number]))
        }
        consume(number)
        return number
    }

    /// Removes a number of bytes from the beginning of the buffer.
    mutating func consume(_ number: Int) {
        precondition(number <= count, "no more is consumed than there is")
        start += number
        if start < bytes.count { return }
        bytes.removeAll(keepingCapacity: bytes.capacity <= InputBuffer.keptCapacity)
        start = 0
    }

    /// Removes all bytes, and frees the memory.
    mutating func removeAll() {
        bytes = []
        start = 0
    }
}
