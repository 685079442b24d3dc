import Glibc
import Synchronization
import TestExpectations
import TestSupport
import Testing

@testable import RunLoops

/// Several threads make loops while there are descriptors for some of the loops only.
///
/// Each test has a process of its own. Without the package's precautions, libevent would end the process if it got no pipe.
@Suite struct LoopOpeningTests {
    @Test
    func `threads that make loops at the limit of descriptors get a loop or an error, and leave none open`()
        async throws
    {
        try await #require(processExitsWith: .success) {
            let bound = try boundOfDescriptors()
            let outcomes = Outcomes()
            for free in 0...120 {
                try race(bound, free, outcomes)
                #expect(openDescriptors(from: bound) == 0)
            }
            outcomes.check()
        }
    }

    @Test
    func `a loop at the limit is a loop or an error also while another thread opens and closes descriptors`()
        async throws
    {
        try await #require(processExitsWith: .success) {
            let bound = try boundOfDescriptors()
            let outcomes = Outcomes()
            let isOver = Shared()
            let other = try BareThread {
                while isOver.count == 0 {
                    let copies = [dup(0), dup(0), dup(0)]
                    for copy in copies where copy >= 0 { close(copy) }
                }
            }
            for free in 0...120 { try race(bound, free, outcomes) }
            isOver.increment()
            other.join()
            outcomes.check()
            // Each leaked descriptor doubles the number of descriptors that must be free, so a limit of 120 allows at most eight.
            #expect(openDescriptors(from: bound) <= 8)
            try BareThread { outcomes.attempt() }.join()
            #expect(outcomes.lastWasMade)
        }
    }

    @Test
    func `a pipe that libevent does not get is an error, and each one makes the next loop ask for more room`()
        async throws
    {
        try await #require(processExitsWith: .success) {
            let bound = try boundOfDescriptors()
            fillDescriptors(below: bound)
            try BareThread {
                #expect(throws: SystemError(call: "pipe2", code: EMFILE)) {
                    try Faults.refusingPipes(EMFILE) { _ = try RunLoop.makeCurrent() }
                }
                #expect(throws: SystemError(call: "pipe2", code: ENFILE)) {
                    try Faults.refusingPipes(ENFILE) { _ = try RunLoop.makeCurrent() }
                }
                // Two epoll sets have leaked. Now two more descriptors must be free than the three of a base.
                #expect(openDescriptors(from: bound) == 2)
                #expect(refusal(bound, free: 2 + 6) { _ = try RunLoop.makeCurrent() } == EMFILE)
                #expect(openDescriptors(from: bound) == 2)
                #expect(refusal(bound, free: 2 + 7) { _ = try RunLoop.makeCurrent() } == nil)
                #expect(RunLoop.current.perform { RunLoop.current.stop() })
                #expect(RunLoop.current.run(in: .default, until: .hang) == .stopped)
            }.join()
        }
    }
}

/// The outcomes of the attempts to make a loop.
private final class Outcomes: Sendable {
    private let made = Shared()
    private let others = Log<String>()
    private let refused = Shared()

    private let last = Shared()

    /// True if the last attempt made a loop.
    var lastWasMade: Bool { last.count == 1 }

    /// Makes a loop, and ends it.
    func attempt() {
        do {
            try RunLoop.withAnotherLoop { _ in }
            made.increment()
            last.value.store(1, ordering: .releasing)
        } catch let error as SystemError where error.code == EMFILE {
            refused.increment()
            last.value.store(0, ordering: .releasing)
        } catch {
            others.add("\(error)")
        }
    }

    func check() {
        #expect(others.entries == [])
        #expect(made.count > 0 && refused.count > 0)
    }
}

/// Has four threads make loops while a number of descriptors from a bound on are free.
private func race(_ bound: Int, _ free: Int, _ outcomes: Outcomes) throws {
    let begins = Gate()
    // The threads are made before the limit is set, and need no descriptor to start.
    let threads = try (0..<4).map { _ in
        try BareThread {
            #expect(begins.wait())
            for _ in 0..<20 { outcomes.attempt() }
        }
    }
    _ = refusal(bound, free: free) {
        begins.open()
        for thread in threads { thread.join() }
    }
}
