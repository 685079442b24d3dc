import Glibc
import RunLoops
import TestSupport
import Testing

/// Signals that still wait when their source ends.
@Suite struct SignalForgettingTests {
    // Guarantees: Signals that arrived before the end, and were not handled yet, are discarded.
    @Test(arguments: [false, true])
    func `signals that came before the end of their source are forgotten`(isBlocked: Bool) async throws {
        try await #require(processExitsWith: .success) { [isBlocked] in
            // The child has one thread, so a signal that this thread blocks waits in the kernel.
            let ending = Child {
                Signals.block(SIGTERM, isBlocked)
                do {
                    var calls = 0
                    let source = try SignalSource(SIGTERM) { _, _ in calls += 1 }
                    try RunLoop.current.add(source, forMode: .default)
                    Signals.send(SIGTERM)
                    source.invalidate()
                    // A waiting signal would end the child here, because that is its action without a source.
                    Signals.block(SIGTERM, false)
                    RunLoop.current.run(until: .now)
                    return calls == 0 ? 0 : 1
                } catch { return 2 }
            }.wait()
            #expect(ending == .exited(0))
        }
    }
}
