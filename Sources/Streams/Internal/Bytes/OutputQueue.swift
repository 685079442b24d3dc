internal import CRunLoops
internal import DequeModule

/// Bytes that were written and that the kernel has not accepted yet.
///
/// Small writes are copied, one after the other. A large array is retained, not copied.
struct OutputQueue: ~Copyable {
    /// The arrays of bytes that are sent before ``tail``; none of them is empty.
    private var chunks = Deque<[UInt8]>()
    /// The bytes that are sent after all chunks.
    ///
    /// Small writes are appended here.
    private var tail: [UInt8] = []
    /// The number of bytes that the kernel has accepted from the first chunk, or from the tail if there is no chunk.
    private var sent = 0

    /// The number of bytes that the kernel has not accepted.
    private(set) var count = 0

    /// True if the kernel accepted no more bytes at the last attempt to send.
    ///
    /// The kernel reports the socket as writable when it accepts bytes again.
    var isBlocked = false
    /// True if the unsent bytes have exceeded the high-water mark and have not fallen to half of it since.
    var isAboveMark = false

    var isEmpty: Bool { count == 0 }

    /// The smallest size, in bytes, of an array that is retained and not copied.
    static var keptSize: Int { 1024 }
    /// The capacity in bytes above which an empty queue frees the memory of its tail.
    private static var keptCapacity: Int { 1024 }
    /// The size in bytes at which the tail becomes a chunk and a new tail begins.
    ///
    /// An array copies its bytes each time that it needs more capacity. This size limits how often the bytes of one tail are
    /// copied.
    private static var tailSize: Int { 16_384 }

    // MARK: - Writing

    mutating func append(_ bytes: [UInt8]) {
        if bytes.isEmpty { return }
        // Safe: a byte has no padding.
        if bytes.count < OutputQueue.keptSize { return append(unsafe bytes.span.bytes) }
        closeTail()
        chunks.append(bytes)
        count += bytes.count
    }

    mutating func append(_ bytes: RawSpan) {
        if bytes.isEmpty { return }
        if tail.count >= OutputQueue.tailSize { closeTail() }
        // Safe: the bytes are copied while the span lives.
        unsafe bytes.withUnsafeBytes { unsafe tail.append(contentsOf: $0) }
        count += bytes.byteCount
    }

    mutating func append(_ text: StaticString) {
        if tail.count >= OutputQueue.tailSize { closeTail() }
        let before = tail.count
        // Safe: the bytes are copied.
        text.withUTF8Buffer { unsafe tail.append(contentsOf: $0) }
        count += tail.count - before
    }

    mutating func append(_ text: some StringProtocol) {
        if tail.count >= OutputQueue.tailSize { closeTail() }
        let before = tail.count
        tail.append(contentsOf: text.utf8)
        count += tail.count - before
    }

    private mutating func closeTail() {
        if tail.isEmpty { return }
        // If there is no chunk, `sent` counts bytes of the tail. The tail now becomes the first chunk, so `sent` stays correct.
        chunks.append(tail)
        tail = []
    }

    // MARK: - Sending

    /// Passes the first bytes of the queue to `send`, and removes the bytes that `send` has sent.
    ///
    /// The bytes are passed as a list of parts. The list is no longer than one system call accepts.
    ///
    /// - Parameter send: Sends the parts, and returns the number of bytes sent, or -1 for an error.
    /// - Returns: The result of `send`.
    mutating func send(_ send: (UnsafePointer<runloops_part>, CInt) -> Int) -> Int {
        let result = unsafe chunks.isEmpty ? sendTail(send) : sendChunks(send)
        if result > 0 { remove(result) }
        return result
    }

    private func sendTail(_ send: (UnsafePointer<runloops_part>, CInt) -> Int) -> Int {
        // Safe: the array is not changed before `send` has returned, so its bytes stay where they are.
        unsafe tail.withUnsafeBytes { bytes in
            var part = unsafe OutputQueue.part(bytes, from: sent)
            return unsafe send(&part, 1)
        }
    }

    private func sendChunks(_ send: (UnsafePointer<runloops_part>, CInt) -> Int) -> Int {
        let most = runloops_most_parts
        return unsafe withUnsafeTemporaryAllocation(of: runloops_part.self, capacity: most) { parts in
            var number = 0
            // Safe: the chunks are not changed before `send` has returned, so their bytes stay where they are.
            for chunk in chunks.prefix(most) {
                let skipped = number == 0 ? sent : 0
                unsafe chunk.withUnsafeBytes { unsafe parts[number] = OutputQueue.part($0, from: skipped) }
                number += 1
            }
            if number < most && !tail.isEmpty {
                unsafe tail.withUnsafeBytes { unsafe parts[number] = OutputQueue.part($0, from: 0) }
                number += 1
            }
            guard let start = parts.baseAddress else { return 0 }
            return unsafe send(start, CInt(number))
        }
    }

    private static func part(_ bytes: UnsafeRawBufferPointer, from start: Int) -> runloops_part {
        unsafe runloops_part(bytes: bytes.baseAddress.map { unsafe $0 + start }, count: bytes.count - start)
    }

    private mutating func remove(_ number: Int) {
        count -= number
        if count == 0 { return clear(keepingTail: tail.capacity <= OutputQueue.keptCapacity) }
        sent += number
        while let first = chunks.first, sent >= first.count {
            sent -= first.count
            chunks.removeFirst()
        }
    }

    /// Removes all bytes, and frees the memory.
    mutating func removeAll() { clear(keepingTail: false) }

    private mutating func clear(keepingTail: Bool) {
        if !chunks.isEmpty { chunks = [] }
        if keepingTail { tail.removeAll(keepingCapacity: true) } else { tail = [] }
        sent = 0
        count = 0
    }
}
