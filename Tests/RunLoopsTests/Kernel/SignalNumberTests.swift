import Glibc
import Testing

@testable import RunLoops

/// The properties of a signal that follow from its number.
@Suite struct SignalNumberTests {
    @Test func `signals have the names that programmers know`() {
        let names = [SIGHUP, SIGINT, SIGUSR1, SIGTERM, SIGCHLD, SIGSYS, 34, 40, 64, 0, 32, 65].map {
            "\(SignalNumber($0))"
        }
        #expect(
            names == [
                "SIGHUP", "SIGINT", "SIGUSR1", "SIGTERM", "SIGCHLD", "SIGSYS", "SIGRTMIN", "SIGRTMIN+6",
                "SIGRTMIN+30", "signal 0", "signal 32", "signal 65",
            ])
    }

    @Test func `signals that no source can have are refused, and no others`() {
        let refused = (-1...70).filter { SignalNumber($0).refusal != nil }
        let faults = [SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV, SIGSYS]
        let expected = [-1, 0, 32, 33] + faults + [SIGKILL, SIGSTOP, SIGCHLD] + (65...70)
        #expect(refused == expected.sorted())
    }
}
