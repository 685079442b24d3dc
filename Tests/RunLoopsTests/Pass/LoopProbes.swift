import Glibc
import TestExpectations
import TestSupport
import Testing

@testable import RunLoops

/// Waits until a loop sleeps in the kernel, or is about to and will not look at its mailbox any more.
func waitUntilAsleep(_ loop: RunLoop) {
    waitUntil("the loop sleeps") { loop.handle.mailbox.acquireCurrent().isArmed }
}
