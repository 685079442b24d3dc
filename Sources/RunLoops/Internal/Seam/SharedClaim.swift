/// A claim that is an object of its own, separate from the port or connection that it belongs to.
///
/// So code can keep the claim, and compare it with other claims, without keeping the port or the connection alive.
///
/// > Thread safety: any thread.
package final class SharedClaim: Sendable {
    private let claim = Claim()

    package init() {}

    /// Takes the claim for a loop, and returns true if the loop has the claim now.
    package func take(for loop: RunLoop) -> Bool { claim.take(for: loop.handle) }

    /// The loop of the calling thread, if that loop has the claim.
    package var loopHere: RunLoop? {
        guard let loop = RunLoop.existing, claim.isHeld(by: loop.handle) else { return nil }
        return loop
    }

    /// Releases the claim, for the next loop that takes it.
    package func release() { claim.release() }

    /// The target of a wait for the loop that has the claim.
    package var waitTarget: WaitTarget { .loop(claim.holderID) }
}
