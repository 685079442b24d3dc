/// An object that holds the exclusive right of one loop to serve a port or a connection.
///
/// Code can keep this object, and compare it with others, without keeping the port or the connection alive.
///
/// > Thread safety: any thread.
package final class SharedClaim: Sendable {
    private let claim = Claim()

    package init() {}

    /// Takes the claim for a loop, unless another loop has it, and returns true if the loop has the claim now.
    package func take(for loop: RunLoop) -> Bool { claim.take(for: loop.handle) }

    /// The calling thread's loop; nil if that loop does not hold the claim.
    package var loopHere: RunLoop? {
        guard let loop = RunLoop.existing, claim.isHeld(by: loop.handle) else { return nil }
        return loop
    }

    /// Releases the claim, so that any loop can take it.
    package func release() { claim.release() }

    /// The loop that holds the claim, as a wait target.
    ///
    /// This is the target of a thread whose request only that loop can serve.
    package var waitTarget: WaitTarget { .loop(claim.holderID) }
}
