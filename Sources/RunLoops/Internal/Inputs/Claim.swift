internal import Synchronization

/// Which loop has a port or a manual source: at most one, whatever threads ask.
///
/// Whoever holds the claim may touch what only the receiver may; giving it up hands that on.
struct Claim: ~Copyable, Sendable {
    private let holder = Atomic<UInt>(0)

    /// Takes the claim for an object, or says that it has it.
    func take(for object: AnyObject) -> Bool {
        let id = UInt(bitPattern: ObjectIdentifier(object))
        let (exchanged, original) = holder.compareExchange(
            expected: 0, desired: id, ordering: .acquiringAndReleasing)
        return exchanged || original == id
    }

    func isHeld(by object: AnyObject) -> Bool {
        holder.load(ordering: .relaxed) == UInt(bitPattern: ObjectIdentifier(object))
    }

    /// The identity of what has the claim; 0 if nothing has.
    var holderID: UInt { holder.load(ordering: .acquiring) }

    func giveUp() { holder.store(0, ordering: .releasing) }
}
