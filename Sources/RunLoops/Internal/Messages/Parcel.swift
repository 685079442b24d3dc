/// The head of a parcel: a value on its way to a loop, with a function of another module that handles it.
///
/// The head is stored in a wide node, with the value behind it. So the sent value needs no memory of its own, and sending it
/// changes no reference count, which the sender and the loop's thread would both write for each parcel.
///
/// `@safe`: the function is called once, for the value that it was sent with.
@safe @usableFromInline
struct Parcel: Sendable {
    /// The modes in which the value may be handled; nil for the common modes.
    let modes: [RunLoop.Mode]?
    let handle: Handle

    /// Handles the value, once.
    ///
    /// Its arguments are the address of the value, from which it takes the value out or where it destroys it, and true if the
    /// parcel has arrived.
    @usableFromInline typealias Handle = @convention(c) (UnsafeMutableRawPointer, Bool) -> Void

    init(_ modes: [RunLoop.Mode]?, _ handle: Handle) {
        self.modes = modes
        unsafe self.handle = handle
    }

    /// The place of the value in a wide node, and its largest size.
    @usableFromInline static let valueOffset = Node.payloadOffset + 16
    @usableFromInline static let valueCapacity = Node.wideStride - valueOffset
}

extension RunLoop {
    /// Sends a value to the loop, to be handled on its thread in one of several modes.
    ///
    /// Like ``perform(inModes:fileID:line:_:)``, for the modules of this package that send many values.
    ///
    /// - Parameters:
    /// - value: The value, of at most 96 bytes.
    /// - modes: The modes; nil for the common modes.
    /// - handle: Called once with the address of the value, from which it takes the value: with true on the loop's thread; with
    ///     false, because the loop has ended, on the thread that destroys the parcel.
    /// - Returns: False if the loop's thread has ended. Then the value was destroyed.
    @inlinable @inline(__always)
    package func send<Value: Sendable & ~Copyable>(
        _ value: consuming Value, inModes modes: [Mode]?,
        _ handle: @convention(c) (UnsafeMutableRawPointer, Bool) -> Void
    ) -> Bool {
        precondition(
            MemoryLayout<Value>.size <= Parcel.valueCapacity && MemoryLayout<Value>.alignment <= 16,
            "a parcel holds values of at most 96 bytes")
        let node = unsafe Node.makeParcel(modes, handle)
        // Safe: the space behind the head belongs to the value, is large enough for it, and no other thread has the node yet.
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

    /// Reads the head of a parcel without taking it out.
    func withParcel<Result>(_ body: (borrowing Parcel) -> Result) -> Result {
        // Safe: the owner of a node of these kinds has stored one in it, and it fits inline.
        unsafe body((address + Node.payloadOffset).assumingMemoryBound(to: Parcel.self).pointee)
    }

    /// Has the value handled, and releases the node.
    @inline(__always)
    func endParcel(hasArrived: Bool, _ releaser: inout NodeReleaser) {
        let handle = unsafe move(Parcel.self).handle
        // Safe: the value exists until it is handled, which happens here, and once.
        unsafe handle(address + Parcel.valueOffset, hasArrived)
        releaser.releaseWide(self)
    }
}
