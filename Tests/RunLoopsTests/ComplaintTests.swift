import Glibc
import TestSupport
import Testing

@testable import RunLoops

/// What the package says to the standard error is not worth a program's end.
@Suite struct ComplaintTests {
    @Test func `a complaint that nobody can read any more raises no signal`() async throws {
        try await #require(processExitsWith: .success) {
            try onThreadWithoutStandardError {
                Signals.ignore(SIGPIPE, false)
                Signals.block(SIGPIPE, false)
                RunLoop.say("nobody reads this")
                #expect(!isPending(SIGPIPE))
            }
        }
    }

    @Test func `a signal of that kind that waits already is left to whoever waits for it`() async throws {
        try await #require(processExitsWith: .success) {
            try onThreadWithoutStandardError {
                Signals.ignore(SIGPIPE, false)
                Signals.block(SIGPIPE)
                pthread_kill(pthread_self(), SIGPIPE)
                RunLoop.say("nobody reads this")
                #expect(isPending(SIGPIPE))
            }
        }
    }

    @Test func `a port complains sixteen times, and says that it counts on`() async {
        let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            let complaints = Complaints()
            for number in 1...100 { complaints.say("complaint \(number)") }
        }
        let lines = (result?.message ?? "").split(separator: "\n").filter { $0.hasPrefix("complaint") }
        #expect(lines.count == Complaints.most)
        #expect(lines.last == "complaint 16; more of this port is counted, and not written")
    }
}

/// Does something on a thread of its own while the standard error is a pipe that nobody reads.
private func onThreadWithoutStandardError(_ body: @escaping @Sendable () -> Void) throws {
    let wire = try Wire.pipe()
    wire.close(wire.near)
    // The testing library says something there at the end.
    let before = OwnedDescriptor(dup(STDERR_FILENO))
    try #require(dup2(wire.far, STDERR_FILENO) == STDERR_FILENO)
    try BareThread(body).join()
    try #require(dup2(before.descriptor, STDERR_FILENO) == STDERR_FILENO)
}

/// Whether a signal waits for the calling thread to accept it.
private func isPending(_ signal: CInt) -> Bool {
    var set = sigset_t()
    // Safe, both: the set is our own.
    unsafe sigpending(&set)
    return unsafe sigismember(&set, signal) == 1
}
