/// The head of a parcel.
///
/// A parcel is a value that is sent to a loop, together with a function that handles the value. The head contains the function. The
/// head and the value behind it are stored in one wide node. So the value needs no memory of its own. It also needs no reference
/// count, which both the sender and the loop's thread would have to write for each parcel.
///
/// `@safe`: the function is called once, for the value that it was sent with.
@safe @usableFromInline
struct Parcel: Sendable {
    /// The modes in which the loop may call the function; nil for the common modes.
    let modes: [Mode]?
    let handle: Handle

    /// A function that handles the value of a parcel; it is called exactly once for each parcel.
    ///
    /// The first argument is the address of the value. The function moves the value out of that address, or destroys it there. The
    /// second argument is true if the loop serves the parcel, and false if the loop has ended.
    @usableFromInline typealias Handle = @convention(c) (UnsafeMutableRawPointer, Bool) -> Void

    init(_ modes: [Mode]?, _ handle: Handle) {
        self.modes = modes
        unsafe self.handle = handle
    }

    /// The offset of the value from the beginning of its wide node, in bytes.
    @usableFromInline static let valueOffset = Node.payloadOffset + 16
    /// The maximum size of the value in bytes.
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

    /// Passes the value of a parcel to the parcel's function, and then releases the node.
    @inline(__always)
    func endParcel(hasArrived: Bool, _ releaser: inout NodeReleaser) {
        let handle = unsafe move(Parcel.self).handle
        // Safe: the value exists until the function handles it, which happens only here, and once.
        unsafe handle(address + Parcel.valueOffset, hasArrived)
        releaser.releaseWide(self)
    }
}
