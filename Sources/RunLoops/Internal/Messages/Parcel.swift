/// The head of a parcel: a value that is sent to a loop, with a function of another module that handles the value.
///
/// The head is stored in a wide node, with the value behind it. So the value needs no memory of its own. Sending the value changes
/// no reference count. Otherwise the sender and the loop's thread would both write to that count for each parcel.
///
/// `@safe`: the function is called once, for the value that it was sent with.
@safe @usableFromInline
struct Parcel: Sendable {
    /// The modes in which the function is allowed to run; nil for the common modes.
    let modes: [RunLoop.Mode]?
    let handle: Handle

    /// A function that handles the value of one parcel, and is called exactly once for it.
    ///
    /// Its arguments are the address of the value, and true if the parcel has arrived. The function moves the value out of that
    /// address, or destroys it there.
    @usableFromInline typealias Handle = @convention(c) (UnsafeMutableRawPointer, Bool) -> Void

    init(_ modes: [RunLoop.Mode]?, _ handle: Handle) {
        self.modes = modes
        unsafe self.handle = handle
    }

    /// The offset of the value in a wide node.
    @usableFromInline static let valueOffset = Node.payloadOffset + 16
    /// The maximum size of the value.
    @usableFromInline static let valueCapacity = Node.wideStride - valueOffset
}

extension Node {
    @usableFromInline
    static func makeParcel(_ modes: [RunLoop.Mode]?, _ handle: Parcel.Handle) -> Node {
        let node = SlabCache.takeWideNode()
        node.kind = modes == nil ? .parcel : .parcelInModes
        node.store(unsafe Parcel(modes, handle))
        return node
    }

    /// Calls a function with the head of a parcel, without moving the head out of its node.
    func withParcel<Result>(_ body: (borrowing Parcel) -> Result) -> Result {
        // Safe: the owner of a node of these kinds has stored a parcel in it, and a parcel fits inline.
        unsafe body((address + Node.payloadOffset).assumingMemoryBound(to: Parcel.self).pointee)
    }

    /// Calls the function that handles the value, and releases the node.
    @inline(__always)
    func endParcel(hasArrived: Bool, _ releaser: inout NodeReleaser) {
        let handle = unsafe move(Parcel.self).handle
        // Safe: the value exists until the function handles it, which happens only here, and once.
        unsafe handle(address + Parcel.valueOffset, hasArrived)
        releaser.releaseWide(self)
    }
}
