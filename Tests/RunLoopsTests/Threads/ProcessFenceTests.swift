import CRunLoops
import Glibc
import RunLoops
import Synchronization
import TestExpectations
import TestSupport
import Testing

/// The pair of a light fence, which costs nothing, and a heavy one, in a process whose filter refuses the kernel's part.
///
/// Each test has a process of its own, because a filter cannot be removed.
@Suite struct ProcessFenceTests {
    @Test func `a filter that refuses membarrier after the start ends no program`() async throws {
        try await #require(processExitsWith: .success) {
            let hadFence = runloops_process_fence_is_on()
            #expect(Faults.refuseMembarrier() == 0)
            #expect(runloops_process_fence_is_on() == hadFence)
            runloops_heavy_fence()
            #expect(!runloops_process_fence_is_on())
            runloops_heavy_fence()
        }
    }

    @Test func `two threads with a fence each never both miss the other's store, before and after a filter`()
        async throws
    {
        try await #require(processExitsWith: .success) {
            let board = Board()
            let rounds = 2_000
            let other = try BareThread {
                for round in 1...rounds { board.playLight(round) }
            }
            for round in 1...rounds {
                if round == rounds / 2 { #expect(Faults.refuseMembarrier() == 0) }
                board.playHeavy(round)
                try #require(board.lightSaw.count == round || board.heavySaw.count == round)
            }
            other.join()
        }
    }

    @Test func `senders that wait for room are served after a filter refuses membarrier`() async throws {
        try await #require(processExitsWith: .success) {
            #expect(Faults.refuseMembarrier() == 0)
            let receiver = try RunLoopThread(name: "receiver")
            let port = Port<Int>(queueLimit: 1)
            let received = Shared()
            try await receiver.runLoop.performAndWait {
                RunLoop.current.add(port, forMode: .default) { _ in received.increment() }
            }
            try Threads(2) { _ in
                for number in 0..<2_000 { try port.send(number, before: .hang) }
            }.join()
            waitUntil("all are received") { received.count == 4_000 }
        }
    }
}

/// Rounds of two stores and two loads: each thread stores the number of the round, and loads that of the other thread.
private final class Board: Sendable {
    private let light = Atomic<Int>(0)
    private let heavy = Atomic<Int>(0)
    let lightSaw = Shared()
    let heavySaw = Shared()
    /// The number of times that the two threads together have reached the start or the end of a round.
    private let arrivals = Atomic<Int>(0)

    func playLight(_ round: Int) {
        meet(4 * round - 2)
        light.store(round, ordering: .relaxed)
        runloops_light_fence()
        let seen = heavy.load(ordering: .relaxed)
        lightSaw.value.store(seen, ordering: .relaxed)
        meet(4 * round)
    }

    func playHeavy(_ round: Int) {
        meet(4 * round - 2)
        heavy.store(round, ordering: .relaxed)
        runloops_heavy_fence()
        let seen = light.load(ordering: .relaxed)
        heavySaw.value.store(seen, ordering: .relaxed)
        meet(4 * round)
    }

    private func meet(_ count: Int) {
        arrivals.add(1, ordering: .sequentiallyConsistent)
        while arrivals.load(ordering: .sequentiallyConsistent) < count { sched_yield() }
    }
}
