internal import Synchronization

/// The exclusive right to receive from one port, or to serve one manual source.
///
/// A loop, a port set, or a task that iterates over the port's messages can hold the claim of a port. Only a loop can hold the
/// claim of a manual source. Several threads can try to take the claim at the same time.
///
/// Only the holder of the claim may touch the receiver's state. Releasing the claim publishes that state to the next holder.
struct Claim: ~Copyable, Sendable {
    private let holder = Atomic<UInt>(0)

    /// Takes the claim for an object, unless another object holds the claim.
    ///
    /// - Returns: True if the given object now holds the claim, even if it held the claim before.
    func take(for object: AnyObject) -> Bool {
        let (exchanged, original) = exchange(object)
        return exchanged || original == UInt(bitPattern: ObjectIdentifier(object))
    }

    /// Takes the claim for an object, if the claim is free.
    ///
    /// - Returns: False if any object already holds the claim, even if that is the given object.
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
    /// A receiver that leaves a port releases the claim, then loads `PortCore.isClosedInOrder`. The thread that ends the port
    /// stores the end, then loads the claim. All four accesses are sequentially consistent, so at least one of the two threads
    /// finds that the port has ended and that the claim is free. That thread destroys the messages that are left.
    func release() { holder.store(0, ordering: .sequentiallyConsistent) }
}
