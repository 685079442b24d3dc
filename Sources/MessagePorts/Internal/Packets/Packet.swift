internal import RunLoops

/// One received packet, in memory with room for the largest packet.
///
/// It has one owner at a time: first the reader, then the message that is made of it, then the pool. So it is
/// `@unchecked Sendable`. `@safe`: this object owns the memory from `init` to `deinit`.
@safe
final class Packet: @unchecked Sendable {
    /// The memory that the kernel fills.
    let memory: UnsafeMutableRawBufferPointer

    /// The contents, stored without exclusivity checks; see ``ExclusivityUnchecked``.
    ///
    /// User code can access only the descriptors, and only through the message that owns this packet. The message cannot be copied,
    /// so the compiler checks the exclusivity of these accesses.
    private let contents = ExclusivityUnchecked(Contents())

    private struct Contents: ~Copyable {
        var frame = Frame(kind: .message)
        var descriptors = OwnedDescriptors()
    }

    init(size: Int) { unsafe memory = .allocate(byteCount: size, alignment: 16) }

    deinit { unsafe memory.deallocate() }

    private(set) var frame: Frame {
        @inline(__always) get { contents.value.frame }
        @inline(__always) set { contents.value.frame = newValue }
    }

    var descriptors: OwnedDescriptors {
        @inline(__always) _read { yield contents.value.descriptors }
        @inline(__always) _modify { yield &contents.value.descriptors }
    }

    /// Decodes the bytes that the kernel has filled in.
    func fill(length: Int, _ descriptors: consuming OwnedDescriptors) throws(Frame.Fault) {
        let count = descriptors.count
        // The descriptors are stored first, so that those of a malformed packet are closed, too.
        self.descriptors = descriptors
        // Safe: the kernel has filled that many bytes of our memory.
        frame = try unsafe Frame(
            decoding: UnsafeRawBufferPointer(rebasing: memory[..<length]), descriptors: count)
    }

    private var bodyRange: Range<Int> { Frame.headLength..<Frame.headLength + frame.bodyLength }

    /// Reads the body in place.
    func withBody<Result: ~Copyable, Failure: Error>(
        _ body: (RawSpan) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        // Safe: the span lives as long as the call, and the memory longer.
        let bytes = unsafe UnsafeRawBufferPointer(rebasing: memory[bodyRange])
        return try body(unsafe RawSpan(_unsafeBytes: bytes))
    }

    /// Releases the descriptors that were not taken.
    ///
    /// They are closed on another thread, because closing can take time.
    func clear() {
        if !descriptors.isEmpty { descriptors = OwnedDescriptors() }
    }
}
