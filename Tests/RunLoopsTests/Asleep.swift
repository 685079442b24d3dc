import Glibc

@testable import RunLoops

extension RunLoop {
    /// Waits until the loop sleeps, or is past the point of no return before it: what is sent now needs a write.
    ///
    /// - Returns: False if the test hangs.
    func waitUntilAsleep() -> Bool {
        let deadline = ContinuousClock.now + .seconds(30)
        while !inbox.mailbox.current.isArmed {
            if ContinuousClock.now > deadline { return false }
            sched_yield()
        }
        return true
    }
}
