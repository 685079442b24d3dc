import Glibc
import Notifications
import RunLoops
import Synchronization
import TestSupport
import Testing

/// The removal guarantee as a property, while many threads post, add and remove.
@Suite struct RemovalStressTests {
    private static let posterCount = 4
    private static let removerCount = 4

    private struct Tick: NotificationMessage {
        typealias Subject = Feed
        let poster: Int
        let number: Int
    }

    /// What all threads of the test share.
    private final class Stage: Sendable {
        let center = NotificationCenter()
        let feeds = [Feed(), Feed()]
        let names: [Notification.Name] = [.a, .b]

        /// Ticks whenever something happens that others are compared with.
        let clock = Shared()
        let isOver = Shared()
        /// Calls that must not have been.
        let violations = Log<String>()
        /// By poster: a tick at which its next call had not begun.
        let beforeCall = (0..<RemovalStressTests.posterCount).map { _ in Shared() }
        let calls = Shared()
        let removals = Shared()

        /// The poster comes to the next observer: what is called from now on starts after this tick.
        func advance(_ poster: Int) {
            beforeCall[poster].value.store(clock.increment(), ordering: .relaxed)
        }
    }

    /// An observer that checks when it is called.
    private final class Watched: Sendable {
        private let stage: Stage
        private let running = Shared()
        private let hasEnded = Shared()
        /// The tick at which it had been removed.
        private let removal = Shared(.max)
        /// The latest tick after which a call of it started.
        private let latestStart = Shared()
        /// By poster: the last number that was seen.
        private let last = (0..<RemovalStressTests.posterCount).map { _ in Shared(-1) }

        init(_ stage: Stage) { self.stage = stage }

        func take(_ note: Notification) {
            guard let poster = note.userInfo["poster"] as? Int, let number = note.userInfo["number"] as? Int
            else { return }
            take(poster, number)
        }

        func take(_ poster: Int, _ number: Int) {
            running.increment()
            stage.calls.increment()
            let start = stage.beforeCall[poster].value.load(ordering: .relaxed)
            latestStart.value.max(start, ordering: .acquiringAndReleasing)
            if start > removal.count { stage.violations.add("a call started after the removal") }
            if hasEnded.count > 0 { stage.violations.add("a call ran after waiting for its end") }
            let before = last[poster].value.exchange(number, ordering: .acquiringAndReleasing)
            if before == number { stage.violations.add("called twice for one post") }
            if before > number { stage.violations.add("called out of order") }
            stage.advance(poster)
            running.value.subtract(1, ordering: .acquiringAndReleasing)
        }

        /// The removal has returned.
        func wasRemoved(afterWaiting: Bool) {
            removal.value.store(stage.clock.increment(), ordering: .sequentiallyConsistent)
            stage.removals.increment()
            if !afterWaiting { return }
            hasEnded.increment()
            if running.count > 0 { stage.violations.add("a call runs after waiting for its end") }
        }

        /// To be asked when no post is under way any more.
        func check() {
            if latestStart.count > removal.count { stage.violations.add("a call started after the removal") }
        }
    }

    @Test func `threads that post and threads that remove: nobody is called who must not be`() throws {
        // Safe: nobody changes the environment of a test run.
        let variable = unsafe getenv("RUNLOOPS_STRESS_SECONDS").map { unsafe String(cString: $0) }
        let end = ContinuousClock.now + .seconds(variable.flatMap(Double.init) ?? 2)
        let stage = Stage()
        // Called first for each post, whoever else is: a removal may come while a post is under way.
        let sentinels = [Notification.Name.a, .b].map { name in
            stage.center.addObserver(forName: name) { note in
                if let poster = note.userInfo["poster"] as? Int { stage.advance(poster) }
            }
        }
        let posters = try Threads(Self.posterCount) { poster in Self.post(poster, stage) }
        let removers = try Threads(Self.removerCount) { remover in
            var random = SplitMix64(seed: UInt64(remover))
            // The last of them to be removed, to be checked once more at the end.
            var removed: [Watched] = []
            var living: [() -> Watched] = []
            while ContinuousClock.now < end {
                if living.count < 8 || Bool.random(using: &random) && living.count < 32 {
                    living.append(Self.register(Watched(stage), stage, &random))
                } else if let index = living.indices.randomElement(using: &random) {
                    removed.append(living.remove(at: index)())
                    if removed.count > 2_000 { removed.removeFirst(1_000) }
                }
            }
            for remove in living { removed.append(remove()) }
            stage.isOver.increment()
            while stage.isOver.count < Self.removerCount + Self.posterCount { sched_yield() }
            for watched in removed { watched.check() }
        }
        try posters.join(seconds: 600)
        try removers.join(seconds: 600)
        #expect(stage.violations.entries.prefix(10) == [])
        // A stress that stresses nothing finds nothing.
        #expect(stage.calls.count > 100)
        #expect(stage.removals.count > 100)
        for token in sentinels { token.remove() }
    }

    /// Posts until it is over, in each of the ways.
    private static func post(_ poster: Int, _ stage: Stage) {
        var random = SplitMix64(seed: UInt64(100 + poster))
        let queue = NotificationQueue(notificationCenter: stage.center)
        var number = 0
        while stage.isOver.count < removerCount {
            number += 1
            let note = Notification(
                name: stage.names[number % 2], object: stage.feeds.randomElement(using: &random),
                userInfo: ["poster": poster, "number": number])
            stage.advance(poster)
            switch Int.random(in: 0..<4, using: &random) {
            case 0: stage.center.post(Tick(poster: poster, number: number))
            case 1:
                queue.enqueue(note, postingStyle: .asap, coalesceMask: [])
                queue.runLoop.run(until: .distantPast)
            default: stage.center.post(note)
            }
        }
        stage.isOver.increment()
    }

    /// Registers an observer in one of the ways.
    ///
    /// - Returns: What removes it, in one of the ways.
    private static func register(
        _ watched: Watched, _ stage: Stage, _ random: inout SplitMix64
    ) -> () -> Watched {
        let name = ([nil] + stage.names).randomElement(using: &random) ?? nil
        let object = ([nil] + stage.feeds).randomElement(using: &random) ?? nil
        var token: ObservationToken?
        switch Int.random(in: 0..<3, using: &random) {
        case 0:
            stage.center.addObserver(watched, Watched.take, name: name, object: object)
            return {
                stage.center.removeObserver(watched)
                watched.wasRemoved(afterWaiting: false)
                return watched
            }
        case 1: token = stage.center.addObserver(for: Tick.self) { watched.take($0.poster, $0.number) }
        default: token = stage.center.addObserver(forName: name, object: object) { watched.take($0) }
        }
        let way = Int.random(in: 0..<3, using: &random)
        return {
            switch way {
            case 0: token?.remove()
            case 1: token?.removeAndWait()
            default: break
            }
            token = nil
            watched.wasRemoved(afterWaiting: way == 1)
            return watched
        }
    }
}
