import Glibc
import TestExpectations
import TestSupport
import Testing

@testable import RunLoops

/// Waits until a loop sleeps in the kernel, or is about to sleep without another check of its mailbox.
func waitUntilAsleep(_ loop: RunLoop) {
    waitUntil("the loop sleeps") { loop.handle.mailbox.acquireCurrent().isArmed }
}
