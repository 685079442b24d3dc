internal import MessagePorts
internal import RunLoops

/// The look-ups of many inspectors at the same time.
///
/// A process of another user can claim to have an inspector and then say nothing. So every look-up has a deadline, many wait at the
/// same time, and a user's processes take only a few of the places. The processes of this user and of root come first.
package struct InspectorSurvey {
    package typealias Outcome = Result<ProcessReport, RemoteInspectorError>

    /// The maximum number of look-ups at the same time.
    private static let mostAtOnce = 32
    /// The maximum number of look-ups of one other user's processes at the same time.
    private static let mostOfUser = 4

    private struct State: Sendable {
        /// The users in the order in which they are served, each with the processes that wait.
        var waiting: [(user: UInt32, processes: [Int32])]
        var running: [UInt32: Int] = [:]
        var outcomes: [Int32: Outcome] = [:]

        mutating func next(trusting trusted: Set<UInt32>) -> (user: UInt32, process: Int32)? {
            for index in waiting.indices where !waiting[index].processes.isEmpty {
                let user = waiting[index].user
                if !trusted.contains(user) && running[user, default: 0] >= mostOfUser { continue }
                running[user, default: 0] += 1
                return (user, waiting[index].processes.removeLast())
            }
            return nil
        }
    }

    /// The part that the threads share; it outlives the survey if a look-up does.
    private final class Shared: Sendable {
        let state: Guarded<State>
        let count: Int
        let isOver = ThreadGate()
        let trusted: Set<UInt32>

        init(_ state: State, _ count: Int, _ trusted: Set<UInt32>) {
            self.state = Guarded(state)
            self.count = count
            self.trusted = trusted
        }

        func work(before deadline: ContinuousClock.Instant, _ timeout: Duration) {
            while let (user, process) = state.withLock({ $0.next(trusting: trusted) }) {
                let outcome = InspectorSurvey.look(at: process, before: deadline, timeout)
                let isLast = state.withLock { state in
                    state.running[user, default: 1] -= 1
                    state.outcomes[process] = outcome
                    return state.outcomes.count == count
                }
                if isLast { isOver.open() }
            }
        }
    }

    /// Asks the inspectors of processes for reports.
    ///
    /// - Parameters:
    ///   - processes: The IDs of the processes.
    ///   - timeout: The longest time for one process.
    ///   - total: The longest time for all processes together.
    /// - Returns: The report of each process, or the reason that there is none.
    package static func reports(
        of processes: [Int32], timeout: Duration = .seconds(2), total: Duration = .seconds(5)
    ) -> [Int32: Outcome] {
        if processes.isEmpty { return [:] }
        let trusted: Set<UInt32> = [0, ProcessFile.userID]
        var users: [UInt32: [Int32]] = [:]
        for process in processes {
            users[ProcessFile.owner(of: process) ?? .max, default: []].append(process)
        }
        let order = users.keys.sorted {
            (trusted.contains($0) ? 0 : 1, $0) < (trusted.contains($1) ? 0 : 1, $1)
        }
        let shared = Shared(
            State(waiting: order.map { ($0, users[$0] ?? []) }), Set(processes).count, trusted)
        let deadline = ContinuousClock.now + total
        var threads = 0
        for _ in 0..<min(mostAtOnce, processes.count) {
            do {
                try DetachedThread.start(name: "survey", blocksSignals: true) {
                    shared.work(before: deadline, timeout)
                }
                threads += 1
            } catch { break }
        }
        if threads == 0 { shared.work(before: deadline, timeout) }
        _ = shared.isOver.wait(until: deadline)
        let outcomes = shared.state.withLock { $0.outcomes }
        return Dictionary(uniqueKeysWithValues: Set(processes).map { ($0, outcomes[$0] ?? late) })
    }

    private static let late = Outcome.failure(.port(MessagePortError(.timedOut)))

    private static func look(
        at process: Int32, before deadline: ContinuousClock.Instant, _ timeout: Duration
    ) -> Outcome {
        let end = min(deadline, .now + timeout)
        if .now >= end { return late }
        do throws(RemoteInspectorError) {
            let inspector = try RemoteInspector(processID: process, timeout: end - .now)
            return .success(try inspector.report(timeout: max(.zero, end - .now)))
        } catch { return .failure(error) }
    }
}
