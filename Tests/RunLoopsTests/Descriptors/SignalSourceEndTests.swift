import Glibc
import RunLoops
import TestExpectations
import TestSupport
import Testing

/// The end of a source while the signal's handler runs on another thread.
///
/// Each test has a process of its own, because signals belong to the process.
@Suite struct SignalSourceEndTests {
    // Guarantees: The thread that ends a source sleeps until the signal handlers that are running for its signal on other threads
    // have returned.
    @Test(arguments: 1...3)
    func `a thread that ends a source sleeps until the signal's handlers on other threads have returned`(
        handlerCount: Int
    ) async throws {
        try await #require(processExitsWith: .success) { [handlerCount] in
            // Safe: one thread at a time uses the source.
            nonisolated(unsafe) let source = try SignalSource(SIGUSR1) { _, _ in }
            let handlers = try (0..<handlerCount).map { _ in
                let write = try HeldWrite()
                let thread = try BareThread {
                    Signals.block(SIGUSR1, false)
                    write.beginHere()
                    Signals.sendToThread(SIGUSR1)
                }
                write.waitUntilReached()
                return (thread: thread, write: write)
            }
            let probes = Log<ThreadProbe>()
            let hasEnded = Shared()
            let ender = try BareThread {
                probes.add(.current)
                unsafe source.invalidate()
                hasEnded.increment()
            }
            waitUntil("the thread that ends the source runs") { !probes.entries.isEmpty }
            let probe = try #require(probes.entries.first)
            for handler in handlers {
                // A thread that only yields its processor never sleeps, and uses processor time.
                let most = probe.processorTime + .milliseconds(500)
                waitUntil("it sleeps, or uses time") { probe.isAsleep || probe.processorTime > most }
                #expect(probe.processorTime <= most)
                #expect(hasEnded.count == 0)
                handler.write.release()
                handler.thread.join()
            }
            ender.join()
            #expect(hasEnded.count == 1)
            // The signal is free for the next source.
            _ = try SignalSource(SIGUSR1) { _, _ in }
        }
    }
}
