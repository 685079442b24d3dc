import Glibc
import Notifications
import RunLoops
import Synchronization
import TestExpectations
import TestSupport
import Testing

/// The removal guarantee as a property, while many threads post, add and remove, and loops deliver.
///
/// Observers of every kind are called, with and without a name, an object and a limit. Their handlers post, register, remove each
/// other and themselves, and run the loop. `RUNLOOPS_STRESS_SECONDS` sets the duration, and has the counts printed.
@Suite struct RemovalStressTests {
    private static let removerCount = 4

    // Guarantees: After ``ObservationToken/remove()`` has returned, no call of the handler starts; after
    // ``ObservationToken/removeAndWait(fileID:line:)`` or ``ObservationToken/removed()``, none is running.
    @Test func `no observer is called after its removal, twice for a post, or out of order`()
        throws
    {
        // Safe: no thread changes the environment of a test run.
        let variable = unsafe getenv("RUNLOOPS_STRESS_SECONDS").map { unsafe String(cString: $0) }
        let end = ContinuousClock.now + .seconds(variable.flatMap(Double.init) ?? 2)
        let targets = try (0..<StressStage.loopCount).map { try RunLoopThread(name: "target \($0)") }
        let tasks = try RunLoopThread(name: "tasks")
        let stage = StressStage(targets.map(\.runLoop), ThreadExecutor(tasks.runLoop))
        let sentinels = Self.addSentinels(stage)
        let isOver = Shared()
        let posters = try Threads(StressStage.posterCount) { poster in
            try Self.post(poster, stage, until: isOver)
        }
        let removed = Guarded<[WatchedObserver]>([])
        let removers = try Threads(Self.removerCount) { remover in
            let last = Self.addAndRemove(stage, until: end, SplitMix64(seed: UInt64(remover)))
            removed.withLock { $0 += last }
        }
        try removers.join(seconds: 600)
        isOver.increment()
        try posters.join(seconds: 600)
        try Self.settle(stage)
        var random = SplitMix64(seed: 0)
        while let observer = stage.takeLiving(0) {
            observer.end(mayWait: true, &random)
            removed.withLock { $0.append(observer) }
        }
        // This block runs after all notifications that still wait for handlers on the loops.
        try Self.settle(stage)
        let inHandlers = stage.removedInHandlers.withLock { removed in
            defer { removed = [] }
            return removed
        }
        for observer in removed.withLock({ $0 }) + inHandlers {
            observer.check()
            observer.letGo()
        }
        for token in sentinels { token.remove() }
        for thread in targets + [tasks] { thread.stop() }
        for thread in targets + [tasks] { thread.join() }

        #expect(stage.violations.entries.prefix(10) == [])
        if variable != nil { print(Self.summary(of: stage)) }
        #expect(stage.hasStressed, "\(Self.summary(of: stage))")
    }

    /// Adds the observers that are called first for each post: a removal can occur during a post.
    private static func addSentinels(_ stage: StressStage) -> [ObservationToken] {
        var tokens = stage.names.map { name in
            stage.center.addObserver(forName: name) { note in
                if let stream = note.userInfo["stream"] as? Int {
                    stage.advance(StressStage.actor(of: stream))
                }
            }
        }
        for (index, loop) in stage.loops.enumerated() {
            for name in stage.names {
                tokens.append(
                    stage.center.addObserver(forName: name, on: loop) { _ in
                        stage.advance(StressStage.actor(ofLoop: index))
                    })
            }
        }
        return tokens
    }

    /// Posts until the test is over, in each of the ways.
    private static func post(_ poster: Int, _ stage: StressStage, until isOver: Shared) throws {
        var random = SplitMix64(seed: UInt64(100 + poster))
        let queue = NotificationQueue(notificationCenter: stage.center)
        var count = 0
        while isOver.count == 0 {
            stage.post(StressStage.stream(of: poster), &random, queue: queue)
            count += 1
            // The loops must keep up: an observer without a limit uses memory for each waiting notification.
            if count.isMultiple(of: 64) { try settle(stage) }
        }
    }

    private static func settle(_ stage: StressStage) throws {
        for loop in stage.loops { try loop.performAndWait {} }
    }

    /// Registers and removes observers for some time; on a busy machine, until enough has happened.
    ///
    /// - Returns: The last observers that were removed, which are checked once more at the end.
    private static func addAndRemove(
        _ stage: StressStage, until end: ContinuousClock.Instant, _ seeded: SplitMix64
    ) -> [WatchedObserver] {
        var random = seeded
        var removed: [WatchedObserver] = []
        while ContinuousClock.now < end || !stage.hasStressed && ContinuousClock.now < end + .seconds(120) {
            if stage.livingCount < 24 || Bool.random(using: &random) && stage.livingCount < 48 {
                stage.keep(WatchedObserver(stage, &random))
            } else if let observer = stage.takeLiving(Int.random(in: 0..<1_000, using: &random)) {
                observer.end(mayWait: true, &random)
                for old in StressStage.add(observer, to: &removed) { old.letGo() }
            }
        }
        return removed
    }

    private static func summary(of stage: StressStage) -> String {
        """
        posts: \(stage.posts.count), of them in handlers: \(stage.nestedPosts.count)
        calls: \(stage.calls.count), of them on loops: \(stage.callsOnLoops.count)
        removals: \(stage.removals.count), waited for: \(stage.waits.count), \
        in handlers: \(stage.removalsInHandlers.count)
        runs in handlers: \(stage.nestedRuns.count)
        """
    }
}
