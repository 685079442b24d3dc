internal import Synchronization

/// Which loop or set has a port, or which loop a manual source: at most one, whatever threads ask.
///
/// Whoever holds the claim may touch what only the receiver may; giving it up hands that on.
struct Claim: ~Copyable, Sendable {
    private let holder = Atomic<UInt>(0)

    /// Takes the claim for an object, or says that it has it.
    func take(for object: AnyObject) -> Bool {
        let (exchanged, original) = exchange(object)
        return exchanged || original == UInt(bitPattern: ObjectIdentifier(object))
    }

    /// Takes the claim for an object, unless something has it, be it the same one.
    func takeIfFree(for object: AnyObject) -> Bool { exchange(object).exchanged }

    private func exchange(_ object: AnyObject) -> (exchanged: Bool, original: UInt) {
        holder.compareExchange(
            expected: 0, desired: UInt(bitPattern: ObjectIdentifier(object)),
            ordering: .sequentiallyConsistent)
    }

    func isHeld(by object: AnyObject) -> Bool {
        holder.load(ordering: .relaxed) == UInt(bitPattern: ObjectIdentifier(object))
    }

    /// The identity of what has the claim; 0 if nothing has.
    var holderID: UInt { holder.load(ordering: .acquiring) }

    /// Hands it on to whoever takes it next.
    ///
    /// Ordered with what the caller looks at afterwards: a port's end that saw the claim still held is seen by it.
    func release() { holder.store(0, ordering: .sequentiallyConsistent) }
}
