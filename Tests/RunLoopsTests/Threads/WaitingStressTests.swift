import Glibc
import TestSupport
import Testing

@testable import RunLoops

/// Random blocks that wait for blocks on other loops, on six loops at once, all of which must end.
///
/// The environment variable RUNLOOPS_STRESS_GRAPHS sets the number of graphs.
@Suite struct WaitingStressTests {
    private static let loopCount = 6

    /// A block, with its loop and the blocks for which it waits, one after another.
    private struct Step {
        let loop: Int
        var waits: [Step] = []

        /// A text form of the block and its waits, with which a failure can be reproduced.
        var text: String {
            waits.isEmpty ? "\(loop)" : "\(loop)(\(waits.map(\.text).joined(separator: " ")))"
        }
    }

    /// The outcome of the waits.
    private struct Outcome: Sendable {
        var completed = 0
        var refused = 0
        var failures: [String] = []
    }

    private final class Ledger: Sendable {
        let outcome = Guarded(Outcome())
    }

    @Test func `in any graph of waits, each wait completes or is reported as a circle`() throws {
        let crew = try makeCrew()
        let total = Guarded(Outcome())
        for seed in 0..<graphCount {
            var random = SplitMix64(seed: UInt64(seed))
            let roots = (0..<Int.random(in: 1...4, using: &random)).map { _ in
                randomStep(depth: .random(in: 1...4, using: &random), above: -1, &random)
            }
            guard let outcome = play(roots, on: crew, seed) else { return }
            total.withLock { total in
                total.completed += outcome.completed
                total.refused += outcome.refused
            }
            if !outcome.failures.isEmpty {
                Issue.record("seed \(seed), \(roots.map(\.text)): \(outcome.failures)")
                return
            }
        }
        // Both outcomes must have occurred.
        let outcome = total.withLock { $0 }
        #expect(outcome.completed > graphCount)
        #expect(outcome.refused > graphCount / 10)
        for thread in crew { thread.stop() }
        for thread in crew { #expect(thread.join(before: .hang)) }
    }

    // Guarantees: A wait that is in no circle is never refused; here, a request counts as a wait for the loop that has its port,
    // whichever thread has the right to answer, and a wait for a port in a ``PortSet`` counts as a wait for the thread that serves
    // the set at that moment.
    @Test func `waits in one direction only are never refused`() throws {
        let crew = try makeCrew()
        for seed in 0..<graphCount / 4 {
            var random = SplitMix64(seed: UInt64(seed))
            let roots = (0..<Int.random(in: 2...4, using: &random)).map { _ in
                // Each block waits for loops with higher numbers only.
                randomStep(depth: 4, above: Int.random(in: -1...1, using: &random), climbs: true, &random)
            }
            guard let outcome = play(roots, on: crew, seed) else { return }
            if outcome.refused > 0 || !outcome.failures.isEmpty {
                Issue.record("seed \(seed), \(roots.map(\.text)): \(outcome)")
                return
            }
        }
        for thread in crew { thread.stop() }
        for thread in crew { #expect(thread.join(before: .hang)) }
    }

    @Test func `a single chain of waits is refused exactly where it comes back`() throws {
        let crew = try makeCrew()
        for seed in 0..<graphCount / 4 {
            var random = SplitMix64(seed: UInt64(seed))
            let path = (0..<8).map { _ in Int.random(in: 0..<Self.loopCount, using: &random) }
            var step = Step(loop: path[7])
            for loop in path.dropLast().reversed() { step = Step(loop: loop, waits: [step]) }
            // The depth at which the chain returns to one of its loops other than the last one. A wait for the last loop runs at
            // once.
            var depth = 0
            while depth < 8,
                depth == 0 || path[depth] == path[depth - 1] || !path[..<depth].contains(path[depth])
            {
                depth += 1
            }
            guard let outcome = play([step], on: crew, seed) else { return }
            if outcome.completed != depth - 1 || outcome.refused != (depth < 8 ? 1 : 0) {
                Issue.record("seed \(seed), \(step.text): \(outcome), and not \(depth - 1) completed")
                return
            }
        }
        for thread in crew { thread.stop() }
        for thread in crew { #expect(thread.join(before: .hang)) }
    }

    // MARK: - Making and playing graphs

    private var graphCount: Int {
        // Safe: the environment does not change while tests run.
        let given = unsafe getenv("RUNLOOPS_STRESS_GRAPHS").flatMap { unsafe Int(String(cString: $0)) }
        return given ?? 10_000
    }

    private func makeCrew() throws -> [RunLoopThread] {
        try (0..<Self.loopCount).map { try RunLoopThread(name: "loop \($0)") }
    }

    private func randomStep(
        depth: Int, above lowest: Int, climbs: Bool = false, _ random: inout SplitMix64
    ) -> Step {
        let first = climbs ? min(lowest + 1, Self.loopCount - 1) : 0
        var step = Step(loop: .random(in: first..<Self.loopCount, using: &random))
        if depth == 0 || climbs && step.loop == Self.loopCount - 1 { return step }
        for _ in 0..<Int.random(in: 0...2, using: &random) {
            step.waits.append(randomStep(depth: depth - 1, above: step.loop, climbs: climbs, &random))
        }
        return step
    }

    /// Performs the first blocks on their loops, all at once, and waits until all have run.
    ///
    /// - Returns: The outcome of the waits, or nil if some hang.
    private func play(_ roots: [Step], on crew: [RunLoopThread], _ seed: Int) -> Outcome? {
        let ledger = Ledger()
        let gates = roots.map { _ in Gate() }
        for (root, gate) in zip(roots, gates) {
            crew[root.loop].runLoop.perform {
                perform(root, on: crew, ledger)
                gate.open()
            }
        }
        for gate in gates where !gate.wait(seconds: 60) {
            Issue.record("seed \(seed) hangs: \(roots.map(\.text)), so far \(ledger.outcome.withLock { $0 })")
            return nil
        }
        return ledger.outcome.withLock { $0 }
    }

    private func perform(_ step: Step, on crew: [RunLoopThread], _ ledger: Ledger) {
        for next in step.waits {
            do {
                try crew[next.loop].runLoop.performAndWait { perform(next, on: crew, ledger) }
                ledger.outcome.withLock { $0.completed += 1 }
            } catch let error as PerformError where error.circle != nil {
                ledger.outcome.withLock { outcome in
                    outcome.refused += 1
                    let loops = error.circle?.waits.map(\.loop) ?? []
                    // The circle begins with this loop, and contains each loop once.
                    if loops.first != crew[step.loop].runLoop || Set(loops).count != loops.count
                        || loops.count < 2 || loops[1] != crew[next.loop].runLoop
                    {
                        outcome.failures.append("\(error)")
                    }
                }
            } catch {
                ledger.outcome.withLock { $0.failures.append("\(error)") }
            }
        }
    }
}
