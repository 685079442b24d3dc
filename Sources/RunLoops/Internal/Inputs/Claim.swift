internal import Synchronization

/// The one loop or set that receives from a port, or the one loop of a manual source: at most one at a time, even if several
/// threads try to take the claim.
///
/// Only the holder of the claim may touch the receiver's state. Releasing the claim hands that state on to the next holder.
struct Claim: ~Copyable, Sendable {
    private let holder = Atomic<UInt>(0)

    /// Takes the claim for an object, or confirms that the object has it.
    func take(for object: AnyObject) -> Bool {
        let (exchanged, original) = exchange(object)
        return exchanged || original == UInt(bitPattern: ObjectIdentifier(object))
    }

    /// Takes the claim for an object, unless any object has it, including this one.
    func takeIfFree(for object: AnyObject) -> Bool { exchange(object).exchanged }

    private func exchange(_ object: AnyObject) -> (exchanged: Bool, original: UInt) {
        holder.compareExchange(
            expected: 0, desired: UInt(bitPattern: ObjectIdentifier(object)),
            ordering: .sequentiallyConsistent)
    }

    func isHeld(by object: AnyObject) -> Bool {
        holder.load(ordering: .relaxed) == UInt(bitPattern: ObjectIdentifier(object))
    }

    /// The identity of the object that has the claim; 0 for none.
    var holderID: UInt { holder.load(ordering: .acquiring) }

    /// Releases the claim, for the next object that takes it.
    ///
    /// Sequentially consistent: if the thread that ends a port saw the claim still held, the caller's next look sees that the
    /// port has ended.
    func release() { holder.store(0, ordering: .sequentiallyConsistent) }
}
