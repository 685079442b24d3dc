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
