import Glibc
import RunLoops
import TestSupport
import Testing

@testable import Notifications

/// Many notifications from several threads to several loops.
///
/// `RUNLOOPS_STRESS_COUNT` sets the number of posts, each to every loop, and has the counts printed.
@Suite struct RedirectedLoadTests {
    private static let posterCount = 4
    private static let targetCount = 3

    // Guarantees: Notifications that one thread posts reach each observer on a loop in that order, the posts of the loop's own
    // thread included.
    @Test func `many notifications to several loops arrive in order, with few writes to the kernel`() throws {
        // Safe: no thread changes the environment of a test run.
        let variable = unsafe getenv("RUNLOOPS_STRESS_COUNT").map { unsafe String(cString: $0) }
        let perPoster = (variable.flatMap(Int.init) ?? 100_000) / Self.posterCount
        let posted = Self.posterCount * perPoster
        let center = NotificationCenter()
        let targets = try (0..<Self.targetCount).map { try RunLoopThread(name: "target \($0)") }
        let disorder = Shared()
        let tokens = try targets.map { target in
            try target.runLoop.performAndWait {
                var next = [Int](repeating: 0, count: Self.posterCount)
                return target.runLoop.addObserver(forName: .a, in: center) { note in
                    let poster = note.userInfo["poster"] as? Int ?? 0
                    let number = note.userInfo["number"] as? Int ?? -1
                    if next[poster] != number { disorder.increment() }
                    next[poster] = number + 1
                }
            }
        }
        let before = targets.map(\.runLoop.statistics)
        try Threads(Self.posterCount) { poster in
            for number in 0..<perPoster {
                center.post(name: .a, userInfo: ["poster": poster, "number": number])
            }
        }.join(seconds: 600)
        for target in targets { try target.runLoop.performAndWait {} }
        #expect(disorder.count == 0)
        for (index, target) in targets.enumerated() {
            #expect(tokens[index].statistics == .init(delivered: posted, dropped: 0, undelivered: 0))
            let statistics = target.runLoop.statistics
            let writes = statistics.kernelWrites - before[index].kernelWrites
            // A write ends a sleep, and only one write ends it. So each batch between two sleeps costs one write at most, and so
            // does the sleep before the first batch.
            let batches = statistics.wakeUps - before[index].wakeUps
            #expect(writes <= batches + 1)
            if variable != nil {
                print("\(target.name): \(posted) delivered, \(writes) writes, \(batches) wake-ups")
            }
        }
        for token in tokens { token.remove() }
        for target in targets { target.stop() }
        for target in targets { target.join() }
    }

    // Guarantees: Nor does a notification to an observer on a loop.
    @Test(.enabled(if: Allocations.areCounted)) func `a redirected notification needs no memory of its own`()
        throws
    {
        let thread = try RunLoopThread(name: "observer")
        defer { thread.stop() }
        let center = NotificationCenter()
        let calls = Shared(0)
        let token = center.addObserver(forName: .a, on: thread.runLoop) { _ in calls.increment() }
        defer { token.remove() }
        // The first notifications allocate memory that is reused.
        for _ in 0..<1_000 { center.post(name: .a) }
        try thread.runLoop.performAndWait {}
        let count = Allocations.count { for _ in 0..<1_000 { center.post(name: .a) } }
        try thread.runLoop.performAndWait {}
        #expect(calls.count == 2_000)
        // A slab is allocated now and then, while the used ones are on their way back.
        if isOptimized { #expect(count < 50) }
    }
}
