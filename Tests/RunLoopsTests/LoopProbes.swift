import Glibc
import TestSupport
import Testing

@testable import RunLoops

/// Waits, without a gate, until something holds that other threads bring about.
func waitUntil(_ what: String, _ holds: () -> Bool) {
    let end = ContinuousClock.Instant.hang
    while !holds() {
        if ContinuousClock.now > end {
            Issue.record("it does not come to be: \(what)")
            return
        }
        sched_yield()
    }
}

/// Waits until a loop sleeps in the kernel, or is about to and will not look at its mailbox any more.
func waitUntilAsleep(_ loop: RunLoop) {
    waitUntil("the loop sleeps") { loop.inbox.mailbox.acquireCurrent().isArmed }
}

extension RunLoop {
    /// Makes one pass without sleeping.
    func pass(in mode: Mode = .default) { run(in: mode, until: .distantPast) }

    /// Makes passes until one finds no source or port to serve.
    ///
    /// One pass serves two messages for sure, and more only as long as its time lasts.
    func settle(in mode: Mode = .default) {
        while run(in: mode, until: .distantPast, returnAfterSourceHandled: true) == .handledSource {}
    }
}

/// Does something when it goes, on the thread of whoever held it last.
final class Parting {
    private let body: () -> Void
    init(_ body: @escaping () -> Void) { self.body = body }
    deinit { body() }
    func hold() {}
}

extension ExitTest.Result {
    /// What the process wrote before it ended.
    var message: String { String(decoding: standardErrorContent, as: UTF8.self) }
}
