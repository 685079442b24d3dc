internal import Synchronization

/// The exclusive right to receive from one port, or to serve one manual source.
///
/// A loop, a port set or an iteration can hold the claim of a port; only a loop can hold the claim of a manual source. Several
/// threads can try to take the claim at the same time.
///
/// Only the holder of the claim may touch the receiver's state. Releasing the claim publishes that state to the next holder.
struct Claim: ~Copyable, Sendable {
    private let holder = Atomic<UInt>(0)

    /// Takes the claim for an object unless another object holds it, and returns true if the object holds it now.
    func take(for object: AnyObject) -> Bool {
        let (exchanged, original) = exchange(object)
        return exchanged || original == UInt(bitPattern: ObjectIdentifier(object))
    }

    /// Takes the claim for an object if the claim is free; returns false if any object holds it, even this object.
    func takeIfFree(for object: AnyObject) -> Bool { exchange(object).exchanged }

    private func exchange(_ object: AnyObject) -> (exchanged: Bool, original: UInt) {
        holder.compareExchange(
            expected: 0, desired: UInt(bitPattern: ObjectIdentifier(object)),
            ordering: .sequentiallyConsistent)
    }

    func isHeld(by object: AnyObject) -> Bool {
        holder.load(ordering: .relaxed) == UInt(bitPattern: ObjectIdentifier(object))
    }

    /// The identity of the object that holds the claim; 0 if the claim is free.
    var holderID: UInt { holder.load(ordering: .acquiring) }

    /// Releases the claim, so that another object can take it.
    ///
    /// The store is sequentially consistent, and so is the load in `PortCore.isClosedInOrder`. So if the thread that ends a port
    /// finds the claim still held, the caller of this method sees the end of the port when that caller next loads
    /// `isClosedInOrder`.
    func release() { holder.store(0, ordering: .sequentiallyConsistent) }
}
