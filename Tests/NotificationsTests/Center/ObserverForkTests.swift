import Glibc
import RunLoops
import Synchronization
import TestSupport
import Testing

@testable import Notifications

/// A forked child finds the locks of the notification layer free, even if other threads of its parent held them at the fork.
@Suite struct ObserverForkTests {
    /// The ways in which a child uses its copy of a center.
    enum Use: String, Codable, CaseIterable {
        case remove, removeAndWait, add, post, addMethod, removeMethod, emptyBag
    }

    // Guarantees: A forked child posts, registers and removes, whatever the other threads of its parent did at the fork.
    @Test(arguments: Use.allCases)
    func `a child uses its center while a thread of the parent was registering at the fork`(use: Use) async {
        await #expect(processExitsWith: .success) { [use] in
            Stage.prepare()
            let stage = Stage()
            let ending = try ForkWatch.fork(
                duringLock: { goesOn in
                    _ = stage.center.names.add(for: .a) { sequence in
                        goesOn()
                        return Observation(
                            sequence: sequence, object: nil, handler: NotificationHandler { _ in })
                    }
                }, andThen: { stage.perform(use) })
            #expect(ending == .exited(0))
        }
    }

    // Guarantees: A forked child that removes an observer on a loop touches no loop, and keeps the observer's handler in memory.
    @Test(arguments: [false, true])
    func `a child removes an observer on a loop without the loop, and keeps its handler`(isOwnThread: Bool)
        async
    {
        await #expect(processExitsWith: .success) { [isOwnThread] in
            try removeInChild(onThreadOfLoop: isOwnThread)
        }
    }

    // Guarantees: A forked child posts, registers and removes, whatever the other threads of its parent did at the fork.
    @Test(.enabled(if: Faults.bearForks))
    func `children use their centers, whatever threads of the parent do`() async {
        await #expect(processExitsWith: .success) {
            Stage.prepare()
            let stage = Stage()
            let isOver = Atomic<Bool>(false)
            let churn = try (0..<2).map { _ in
                try BareThread {
                    while !isOver.load(ordering: .relaxed) { stage.churn() }
                }
            }
            for _ in 0..<8 {
                for use in Use.allCases {
                    let ending = Child(whileOthersRun: true) {
                        stage.perform(use)
                        return 0
                    }.wait()
                    #expect(ending == .exited(0), "\(use)")
                    if ending != .exited(0) { break }
                }
            }
            isOver.store(true, ordering: .relaxed)
            for thread in churn { thread.join() }
        }
    }
}

/// A center with each kind of observer.
private struct Stage: Sendable {
    final class Screen: Sendable {
        func show(_ note: Notification) {}
    }

    let center = NotificationCenter()
    let token: ObservationToken
    let screen = Screen()
    let bag = ObservationBag()

    init() {
        token = center.addObserver(forName: .a) { _ in }
        center.addObserver(screen, name: .a) { $0.show($1) }
        bag.add(center.addObserver(forName: .a) { _ in })
    }

    /// Does once all that a child does, because Swift initializes globals and types at their first use, under locks that a fork does
    /// not acquire.
    static func prepare() {
        Stage().churn()
        for use in ObserverForkTests.Use.allCases { Stage().perform(use) }
    }

    func perform(_ use: ObserverForkTests.Use) {
        switch use {
        case .remove: token.remove()
        case .removeAndWait: token.removeAndWait()
        case .add: center.addObserver(forName: .a) { _ in }.remove()
        case .post: center.post(name: .a)
        case .addMethod: center.addObserver(screen, name: .a) { $0.show($1) }
        case .removeMethod: center.removeObserver(screen)
        case .emptyBag: bag.removeAll()
        }
    }

    /// Acquires every lock that a child can need, including those of the same objects.
    func churn() {
        let own = center.addObserver(forName: .a) { _ in }
        own.registration.whenFinished {}
        own.removeAndWait()
        let other = Screen()
        center.addObserver(other, name: .a) { $0.show($1) }
        center.removeObserver(other)
        bag.add(center.addObserver(forName: .b) { _ in })
        bag.removeAll()
        center.post(name: .a)
    }
}

/// The beginning and the end of a fork, for the thread that holds a lock.
private enum ForkWatch {
    static let hasBegun = Atomic<Bool>(false)
    static let isOver = Atomic<Bool>(false)

    /// Forks while another thread holds a lock.
    ///
    /// The thread holds the lock until the fork is over. If the fork waits for the lock instead, the thread releases it after some
    /// yields, because the order is then irrelevant.
    ///
    /// - Parameters:
    ///   - body: Acquires the lock, and calls its argument while it holds the lock.
    ///   - childBody: The body of the child, which is ended if it hangs.
    /// - Returns: The ending of the child.
    /// - Throws: `SystemError` if the thread cannot be made.
    static func fork(
        duringLock body: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void,
        andThen childBody: () -> Void
    ) throws -> Child.Ending {
        // Registered last, and therefore called first.
        let code = pthread_atfork(
            { ForkWatch.hasBegun.store(true, ordering: .releasing) },
            { ForkWatch.isOver.store(true, ordering: .releasing) }, nil)
        precondition(code == 0, "the C library takes one more handler")
        let isThere = Gate()
        let other = try BareThread {
            body {
                isThere.open()
                var looks = 0
                while !isOver.load(ordering: .acquiring), looks < 20_000 {
                    if hasBegun.load(ordering: .acquiring) { looks += 1 }
                    sched_yield()
                }
            }
        }
        #expect(isThere.wait())
        let ending = Child(whileOthersRun: true) {
            childBody()
            return 0
        }.wait()
        other.join()
        return ending
    }
}

private func removeInChild(onThreadOfLoop isOwnThread: Bool) throws {
    let center = NotificationCenter()
    let screen = try RunLoopThread(name: "screen")
    let (released, called) = (Shared(), Shared())
    let canary = Canary { released.increment() }
    let token = center.addObserver(forName: .a, on: screen.runLoop, capacity: .bounded(2, .dropOldest)) {
        [canary] _ in
        canary.sing()
        called.increment()
    }
    let fork: @Sendable () -> Child.Ending = {
        Child {
            token.remove()
            token.removeAndWait()
            center.post(name: .a)
            return CInt(released.count)
        }.wait()
    }
    let ending = isOwnThread ? try screen.runLoop.performAndWait { fork() } : fork()
    #expect(ending == .exited(0))
    // The observation of the parent continues.
    try center.postAndWait(Notification(name: .a))
    #expect(called.count == 1)
    token.remove()
    screen.stop()
    screen.join()
}
