import RunLoops
import TestSupport
import Testing

@testable import Notifications

/// Handlers that end their thread, by `pthread_exit`, while other threads wait for them.
///
/// Each test has a process of its own, because objects on the stack of such a thread are never released.
@Suite struct CallThreadEndTests {
    // Guarantees: A handler that ends its thread, by `pthread_exit`, keeps no thread waiting: a removal that waits for it returns,
    // and a post that waits for it throws an error, which says that the loop has ended.
    @Test func `a removal's wait ends when the poster's thread ends in the handler`() async {
        await #expect(processExitsWith: .success) {
            let center = NotificationCenter()
            let stage = Stage()
            let token = center.addObserver(forName: .a) { _ in stage.endThread() }
            let poster = try BareThread { center.post(name: .a) }
            try stage.remove([token], joining: poster)
        }
    }

    @Test func `a removal's wait ends however deep the calls are in which the thread ends`() async {
        await #expect(processExitsWith: .success) {
            let center = NotificationCenter()
            let stage = Stage()
            // More calls than fit into a record of calls.
            let depth = 2 * CallRecord.capacity + 1
            let tokens = (0..<depth).map { level in
                center.addObserver(forName: .init("\(level)")) { _ in
                    if level + 1 < depth {
                        center.post(name: .init("\(level + 1)"))
                    } else {
                        stage.endThread()
                    }
                }
            }
            let poster = try BareThread { center.post(name: .init("0")) }
            try stage.remove(tokens, joining: poster)
            // The records can be used again, and have no calls.
            try BareThread { center.post(name: .a) }.join()
        }
    }

    // Guarantees: A handler that ends its thread, by `pthread_exit`, keeps no thread waiting: a removal that waits for it returns,
    // and a post that waits for it throws an error, which says that the loop has ended.
    @Test func `a removal's wait ends when the observer's loop ends in the handler`() async {
        await #expect(processExitsWith: .success) {
            let center = NotificationCenter()
            let stage = Stage()
            let target = try RunLoopThread(name: "target")
            let token = center.addObserver(forName: .a, on: target.runLoop) { _ in stage.endThread() }
            center.post(name: .a)
            try stage.remove([token], joining: nil)
            #expect(await target.join(before: .hang))
        }
    }

    /// The capacity of the observer.
    enum Room: String, CaseIterable, Codable {
        case unlimited, bounded, coalescing

        var capacity: NotificationCenter.Capacity {
            switch self {
            case .unlimited: .unlimited
            case .bounded: .bounded(3, .dropNewest)
            case .coalescing: .coalescing(.onName)
            }
        }
    }

    // Guarantees: A handler that ends its thread, by `pthread_exit`, keeps no thread waiting: a removal that waits for it returns,
    // and a post that waits for it throws an error, which says that the loop has ended.
    @Test(arguments: Room.allCases)
    func `a poster's wait throws when the observer ends its thread`(room: Room) async {
        await #expect(processExitsWith: .success) { [room] in
            let center = NotificationCenter()
            let target = try RunLoopThread(name: "target")
            let token = center.addObserver(forName: .a, on: target.runLoop, capacity: room.capacity) { _ in
                Child.endThread()
            }
            #expect(throws: PerformError(.loopEnded)) {
                try center.postAndWait(Notification(name: .a), before: .hang)
            }
            #expect(await target.join(before: .hang))
            withExtendedLifetime(token) {}
        }
    }
}

/// A handler that ends its thread while other threads wait for it.
private final class Stage: Sendable {
    private let runs = Gate()
    private let ends = Gate()

    func endThread() {
        runs.open()
        #expect(ends.wait())
        Child.endThread()
    }

    /// Removes observations while the handler runs, and waits for all of them.
    func remove(_ tokens: [ObservationToken], joining poster: BareThread?) throws {
        #expect(runs.wait())
        let awaited = Gate()
        let waiting = Shared()
        // Not on the threads that tasks share: this can be the only one.
        let tasks = try RunLoopThread(name: "tasks")
        defer { tasks.stop() }
        for token in tokens {
            Task(executorPreference: tasks.runLoop.taskExecutor) {
                await token.removed()
                waiting.increment()
                awaited.open()
            }
        }
        let remover = try BareThread {
            for token in tokens { token.removeAndWait() }
            waiting.increment()
        }
        // The task and the thread wait, or are about to. Neither wait can be over.
        while !tokens.allSatisfy({ $0.registration.isRemoved }) {}
        #expect(waiting.count == 0)
        ends.open()
        remover.join()
        #expect(awaited.wait())
        poster?.join()
    }
}
