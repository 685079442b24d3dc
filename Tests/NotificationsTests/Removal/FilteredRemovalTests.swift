import Glibc
import RunLoops
import TestSupport
import Testing

@testable import Notifications

/// Removal when a filter refuses the kernel's fence to a running program.
///
/// Each test has a process of its own, because a filter cannot be removed.
@Suite struct FilteredRemovalTests {
    @Test func `no call runs after a removal has waited, before and after a filter`() async throws {
        try await #require(processExitsWith: .success) { try Self.removeAcrossFilter() }
    }

    private static func removeAcrossFilter() throws {
        let center = NotificationCenter()
        let isOver = Shared()
        let posters = try Threads(2) { _ in
            while isOver.count == 0 { center.post(name: .a) }
        }
        for round in 0..<300 {
            if round == 100 { #expect(Faults.refuseMembarrier() == 0) }
            let (isRemoved, calls, lateCalls) = (Shared(), Shared(), Shared())
            let token = center.addObserver(forName: .a) { _ in
                calls.increment()
                if isRemoved.count != 0 { lateCalls.increment() }
            }
            while calls.count == 0 { sched_yield() }
            token.removeAndWait()
            isRemoved.increment()
            center.post(name: .a)
            try #require(lateCalls.count == 0)
        }
        isOver.increment()
        try posters.join()
    }
}
