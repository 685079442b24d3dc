internal import RunLoops

/// One packet that was received, in memory with room for the largest.
///
/// It has one owner at a time, who hands it on: whoever receives it, then the message that is made of it, then the
/// pool. `@unchecked Sendable` for that. `@safe`: the memory is this object's from `init` to `deinit`.
@safe
final class Packet: @unchecked Sendable {
    /// What the kernel fills.
    let memory: UnsafeMutableRawBufferPointer

    /// What has come in it: without the checks that a class's properties cost, which ``ExclusivityUnchecked`` argues.
    ///
    /// Of all this a user's code is given the descriptors alone, through a message, which is not copied.
    private let contents = ExclusivityUnchecked(Contents())

    private struct Contents: ~Copyable {
        var frame = Frame(kind: .message)
        var descriptors = OwnedDescriptors()
        var requester: PortConnection?
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

    /// Who waits for a reply; nil if nobody does, or the right to reply was taken.
    var requester: PortConnection? {
        @inline(__always) get { contents.value.requester }
        @inline(__always) set { contents.value.requester = newValue }
    }

    /// Takes apart what the kernel has filled in.
    func fill(length: Int, _ descriptors: consuming OwnedDescriptors) throws(Frame.Fault) {
        let count = descriptors.count
        // First: also those of a packet that is malformed go as all others do.
        self.descriptors = descriptors
        // Safe: the kernel has filled so many bytes, of ours.
        frame = try unsafe Frame(
            decoding: UnsafeRawBufferPointer(rebasing: memory[..<length]), descriptors: count)
    }

    private var bodyRange: Range<Int> { Frame.headLength..<Frame.headLength + frame.bodyLength }

    /// Reads the body where it is.
    func withBody<Result: ~Copyable, Failure: Error>(
        _ body: (RawSpan) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        // Safe: the span lives as long as the call, and the memory longer.
        let bytes = unsafe UnsafeRawBufferPointer(rebasing: memory[bodyRange])
        return try body(unsafe RawSpan(_unsafeBytes: bytes))
    }

    /// Releases what is not memory.
    ///
    /// Descriptors that were not taken are closed elsewhere, because that may take time.
    func clear() {
        if !descriptors.isEmpty { descriptors = OwnedDescriptors() }
        requester = nil
    }
}

/// Packets of one size that are free, so that a message costs no allocation.
final class PacketPool: Sendable {
    /// How many are kept: as many as handlers may have on the stack, and a few that were handed on.
    private static let most = 8

    private let size: Int
    private let free = Guarded<[Packet]>([])

    /// Makes a pool.
    ///
    /// - Parameter body: The largest body that a packet is to have room for.
    init(forBodiesOf body: Int) { size = Frame.headLength + body }

    /// A packet for the kernel to fill.
    func take() -> Packet { free.withLock { $0.popLast() } ?? Packet(size: size) }

    /// Takes a packet back.
    func give(_ packet: Packet) {
        packet.clear()
        free.withLock { if $0.count < PacketPool.most { $0.append(packet) } }
    }
}
