import DistributedNotifications
import RunLoops
import TestSupport

/// The events of an observer, which a test waits for.
final class EventLog: Sendable {
    private struct State: Sendable {
        var events: [DistributedNotificationEvent] = []
        var waits: [(count: Int, gate: Gate)] = []
    }

    private let state = Guarded(State())

    func append(_ event: DistributedNotificationEvent) {
        let gates = state.withLock { state in
            state.events.append(event)
            let count = state.events.count
            defer { state.waits.removeAll { $0.count <= count } }
            return state.waits.filter { $0.count <= count }.map(\.gate)
        }
        for gate in gates { gate.open() }
    }

    /// Waits for a number of events, and returns all that there are.
    func wait(for count: Int) -> [DistributedNotificationEvent] {
        let gate = Gate()
        state.withLock { state in
            if state.events.count >= count { gate.open() } else { state.waits.append((count, gate)) }
        }
        _ = gate.wait(seconds: 60)
        return state.withLock { $0.events }
    }

    var events: [DistributedNotificationEvent] { state.withLock { $0.events } }
}

extension DistributedNotificationEvent {
    /// The number of a notification, or the numbers of a gap, as short words.
    var short: String {
        switch self {
        case .notification(let note): "\(note.number)"
        case .gap(let gap): "gap \(gap.from)-\(gap.to.map { "\($0)" } ?? "?") \(gap.reason)"
        }
    }
}

/// A thread with a loop, which ends with the test.
func withWorker<Result>(_ body: (RunLoop) throws -> Result) throws -> Result {
    let worker = try RunLoopThread(name: "worker")
    defer {
        worker.stop()
        worker.join()
    }
    return try body(worker.runLoop)
}
