/// A claim in an object of its own, for code that compares the claim and does not keep the thing that is claimed.
///
/// > Thread safety: any thread.
package final class SharedClaim: Sendable {
    private let claim = Claim()

    package init() {}

    /// Takes the claim for a loop, or confirms that the loop has it.
    package func take(for loop: RunLoop) -> Bool { claim.take(for: loop.handle) }

    /// The loop of the calling thread, if that loop has the claim.
    package var loopHere: RunLoop? {
        guard let loop = RunLoop.existing, claim.isHeld(by: loop.handle) else { return nil }
        return loop
    }

    /// Hands the claim on to the next loop that takes it.
    package func giveUp() { claim.giveUp() }

    /// The target of a wait for the loop with the claim.
    package var holding: Holding { .loop(claim.holderID) }
}
