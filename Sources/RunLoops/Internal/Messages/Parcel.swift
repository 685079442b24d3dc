/// The head of a parcel: a value on its way to a loop, for which another module knows what to do.
///
/// It lies in a wide node, and the value behind it. So what is sent needs no memory of its own, and to send it counts no
/// reference: a counted one would be written by the sender and by the loop's thread, for each parcel.
///
/// `@safe`: the function is called once, for the value that it was sent with.
@safe @usableFromInline
struct Parcel: Sendable {
    /// Nil for the common modes.
    let modes: [RunLoop.Mode]?
    let handle: Handle

    /// What is done with the value, once.
    ///
    /// It is given the value's place, and takes the value out or destroys it there; and whether the parcel has arrived.
    @usableFromInline typealias Handle = @convention(c) (UnsafeMutableRawPointer, Bool) -> Void

    init(_ modes: [RunLoop.Mode]?, _ handle: Handle) {
        self.modes = modes
        unsafe self.handle = handle
    }

    /// Where a value begins in a wide node, and how large it may be.
    @usableFromInline static let valueOffset = Node.payloadOffset + 16
    @usableFromInline static let valueCapacity = Node.wideStride - valueOffset
}

extension RunLoop {
    /// Sends a value to the loop, to be handled on its thread in one of several modes.
    ///
    /// As ``perform(inModes:fileID:line:_:)``, for the modules of this package that send much.
    ///
    /// - Parameters:
    ///   - value: What is sent; of at most 96 bytes.
    ///   - modes: The modes; nil for the common ones.
    ///   - handle: Called once with the place of the value, from which it takes the value: with true on the loop's thread; with
    ///     false by whoever lets go of it, because the loop has ended.
    /// - Returns: False if the loop's thread has ended: then the value was let go of.
    @inlinable @inline(__always)
    package func send<Value: Sendable & ~Copyable>(
        _ value: consuming Value, inModes modes: [Mode]?,
        _ handle: @convention(c) (UnsafeMutableRawPointer, Bool) -> Void
    ) -> Bool {
        precondition(
            MemoryLayout<Value>.size <= Parcel.valueCapacity && MemoryLayout<Value>.alignment <= 16,
            "a parcel holds values of at most 96 bytes")
        let node = unsafe Node.makeParcel(modes, handle)
        // Safe: the room behind the head belongs to the value, is large enough for it, and nobody else has the node yet.
        unsafe (node.address + Parcel.valueOffset).initializeMemory(as: Value.self, to: value)
        return post(parcel: node)
    }

    @usableFromInline
    func post(parcel node: Node) -> Bool {
        if putInLine(node) { return true }
        var releaser = NodeReleaser()
        node.endParcel(hasArrived: false, &releaser)
        return false
    }
}

extension Node {
    @usableFromInline
    static func makeParcel(_ modes: [RunLoop.Mode]?, _ handle: Parcel.Handle) -> Node {
        let node = SlabCache.takeWideNode()
        node.kind = modes == nil ? .parcel : .parcelInModes
        node.store(unsafe Parcel(modes, handle))
        return node
    }

    /// Looks at the head of a parcel without taking it out.
    func withParcel<Result>(_ body: (borrowing Parcel) -> Result) -> Result {
        // Safe: the owner of a node of these kinds has stored one in it, and it fits inline.
        unsafe body((address + Node.payloadOffset).assumingMemoryBound(to: Parcel.self).pointee)
    }

    /// Has the value handled, and gives the node back.
    @inline(__always)
    func endParcel(hasArrived: Bool, _ releaser: inout NodeReleaser) {
        let handle = unsafe move(Parcel.self).handle
        // Safe: the value is there until it is handled, which is now, and once.
        unsafe handle(address + Parcel.valueOffset, hasArrived)
        releaser.releaseWide(self)
    }
}
