internal import RunLoops

/// A received packet, in memory that has room for the largest packet of its pool.
///
/// A packet has one owner at a time: first the code that receives it, then the message that contains it, then the ``PacketPool``.
/// So the class is `@unchecked Sendable`. `@safe`: the packet owns its memory from `init` to `deinit`.
@safe
final class Packet: @unchecked Sendable {
    /// The memory to which the kernel writes the packet.
    let memory: UnsafeMutableRawBufferPointer

    /// The head and the descriptors, stored without exclusivity checks; see ``ExclusivityUnchecked``.
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

    /// Decodes the head that the kernel has written to ``memory``, and takes over the packet's descriptors.
    func fill(length: Int, _ descriptors: consuming OwnedDescriptors) throws(Frame.Fault) {
        let count = descriptors.count
        // The descriptors are stored first, so that those of a malformed packet are closed, too.
        self.descriptors = descriptors
        // Safe: the kernel has filled that many bytes of our memory.
        frame = try unsafe Frame(
            decoding: UnsafeRawBufferPointer(rebasing: memory[..<length]), descriptors: count)
    }

    private var bodyRange: Range<Int> { Frame.headLength..<Frame.headLength + frame.bodyLength }

    /// Passes the bytes of the body to a closure, without copying them.
    func withBody<Result: ~Copyable, Failure: Error>(
        _ body: (RawSpan) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        // Safe: the span lives as long as the call, and the memory longer.
        let bytes = unsafe UnsafeRawBufferPointer(rebasing: memory[bodyRange])
        return try body(unsafe RawSpan(_unsafeBytes: bytes))
    }

    /// Discards the descriptors that were not taken out of the packet.
    func clear() {
        if !descriptors.isEmpty { descriptors = OwnedDescriptors() }
    }
}
