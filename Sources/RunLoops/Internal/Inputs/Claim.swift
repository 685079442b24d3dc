internal import Synchronization

/// The exclusive right to receive from one port, or to serve one manual source, which at most one object holds at a time.
///
/// A loop, a port set or an iteration can hold the claim of a port; a loop can hold that of a manual source. Several threads
/// may try to take the claim at the same time.
///
/// Only the holder of the claim may touch the receiver's state. Releasing the claim hands that state on to the next holder.
struct Claim: ~Copyable, Sendable {
    private let holder = Atomic<UInt>(0)

    /// Takes the claim for an object unless another object holds it, and returns true if the object holds it now.
    func take(for object: AnyObject) -> Bool {
        let (exchanged, original) = exchange(object)
        return exchanged || original == UInt(bitPattern: ObjectIdentifier(object))
    }

    /// Takes the claim for an object and returns true, unless an object – even this one – already holds the claim.
    func takeIfFree(for object: AnyObject) -> Bool { exchange(object).exchanged }

    private func exchange(_ object: AnyObject) -> (exchanged: Bool, original: UInt) {
        holder.compareExchange(
            expected: 0, desired: UInt(bitPattern: ObjectIdentifier(object)),
            ordering: .sequentiallyConsistent)
    }

    func isHeld(by object: AnyObject) -> Bool {
        holder.load(ordering: .relaxed) == UInt(bitPattern: ObjectIdentifier(object))
    }

    /// The identity of the object that holds the claim; 0 if none does.
    var holderID: UInt { holder.load(ordering: .acquiring) }

    /// Releases the claim, so that another object can take it.
    ///
    /// The store is sequentially consistent, as is the load in `PortCore.isClosedInOrder`. If the thread that ends a port still
    /// finds the claim held, the caller's next such load therefore sees that the port has ended.
    func release() { holder.store(0, ordering: .sequentiallyConsistent) }
}
