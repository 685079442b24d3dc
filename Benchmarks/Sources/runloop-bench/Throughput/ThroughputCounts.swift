internal import CThreadControl
internal import Dispatch
internal import RunLoops
internal import Synchronization

/// Measures the counts that are the same on every machine: the system calls and allocations of a message or a pass.
///
/// Read the rows of the targets. A miss there makes the program fail. The table shows the counts of the peers.
struct ThroughputCounts {
    /// The allocations of a message, by subject.
    private(set) var table = Table(
        title: "Allocations a message, one producer, steady state, at most 1,024 under way",
        columns: [
            .init("mallocs", "allocations", .perMessage), .init("least", "least", .perMessage),
            .init("most", "most", .perMessage),
        ])
    private(set) var targets: [TargetRow] = []
    private(set) var failures: [String] = []

    /// Measures all counts.
    init(
        subjects: [(ThroughputSubject, any MessageChannel)], runner: ThroughputRunner, session: Session
    ) throws {
        for policy in SaturatedLoop.Policy.allCases {
            let writes = try SaturatedLoop.kernelWritesPerMessage(
                policy, messages: session.isQuick ? 100_000 : 500_000, machine: session.machine)
            targets.append(
                TargetRow(
                    "B-C1", "kernel wake-up writes a message at saturation, \(policy.rawValue)",
                    .atMost(0.02),
                    stretch: .atMost(0), figure: Spread([writes.own]), isCount: true,
                    note: writes.kernel.map { "the kernel counted \(NumberFormat.perMessage.text($0))" }))
        }
        var allocations: [ThroughputSubject: Spread] = [:]
        for (subject, channel) in subjects {
            runner.place(channel, on: session.machine)
            let stretches = try runner.allocations(
                channel, stretches: 9, messages: session.isQuick ? 1024 : 2048)
            guard let spread = Spread(stretches) else { continue }
            allocations[subject] = spread
            table.rows.append(
                Table.Row(
                    name: subject.rawValue,
                    figures: ["allocations": spread.median, "least": spread.least, "most": spread.most]))
        }
        // The list allocates once for each message by design. Any other figure means that the counter does not work.
        if let list = allocations[.list], list.median != 1 {
            failures.append(
                "the allocation counter saw \(list.median) allocations a message of the list, which makes 1")
        }
        for (subject, what) in [(ThroughputSubject.port, "typed message"), (.perform, "one-capture closure")]
        {
            targets.append(
                TargetRow(
                    "B-C2", "mallocs a \(what), steady state", .atMost(0), figure: allocations[subject],
                    isCount: true))
        }
        targets.append(
            TargetRow(
                "B-C3", "system calls a pass of a busy loop without descriptors", .atMost(0),
                figure: Spread([try BusyLoop.kernelCallsPerPass(passes: session.isQuick ? 20_000 : 200_000)]),
                isCount: true))
    }
}

/// Measures wake-ups while the consumer always has work, because a message takes longer to handle than to send.
///
/// A faster consumer can run out of work, which depends on the machine. The cost of sending to a busy consumer does not depend on
/// the machine.
enum SaturatedLoop {
    /// The wait policy of the loop.
    enum Policy: String, CaseIterable {
        case park
        case adaptive

        fileprivate var waitPolicy: RunLoop.WaitPolicy {
            switch self {
            case .park: .park
            case .adaptive: .adaptive
            }
        }
    }

    /// Counts the kernel writes for each message.
    ///
    /// - Returns: The figure of the loop's statistics, and the figure of the kernel's count of all write calls of the process.
    static func kernelWritesPerMessage(
        _ policy: Policy, messages: Int, machine: Machine
    ) throws -> (own: Double, kernel: Double?) {
        let runner = ThroughputRunner(window: 4096)
        let channel = try Channel(policy, sink: runner.sink)
        defer { channel.end() }
        runner.place(channel, on: machine)
        // A short round to warm up the caches.
        _ = try runner.round(channel, producers: 1, length: .milliseconds(2))
        var sent = 0
        var kernel: Int?
        let before = channel.writes
        while sent < messages {
            let round = try runner.round(channel, producers: 1, length: .milliseconds(50))
            sent += round.messages
            if let writes = round.usage.writes { kernel = (kernel ?? 0) + writes }
        }
        return (Double(channel.writes - before) / Double(sent), kernel.map { Double($0) / Double(sent) })
    }

    private final class Channel: MessageChannel {
        private let thread: RunLoopThread
        private let port = Port<Int>(queueLimit: .unlimited)
        private let number: ThreadNumber

        init(_ policy: Policy, sink: Sink) throws {
            thread = try RunLoopThread(name: "saturated")
            number = try thread.prepare(policy.waitPolicy) { [port] in
                RunLoop.current.add(port, forMode: .default) { message in
                    for _ in 0..<8 { bench_pause() }
                    sink.receive(message)
                }
            }
        }

        var consumerThreads: [ThreadNumber] { [number] }

        var writes: Int { Int(thread.runLoop.statistics.kernelWrites) }

        func send(_ count: Int, from start: Int, producer: Int) throws -> Int {
            for value in start..<start + count { try port.send(value) }
            return sum(count, from: start)
        }

        func end() { thread.stop() }
    }
}

/// Measures a pass of a loop whose only work is a block that performs itself again.
///
/// Such a loop has no reason to enter the kernel.
enum BusyLoop {
    /// Returns the system calls for each pass, by the loop's statistics.
    static func kernelCallsPerPass(passes: Int) throws -> Double {
        let thread = try RunLoopThread(name: "busy")
        defer { thread.stop() }
        let chain = Chain(loop: thread.runLoop, length: passes)
        thread.runLoop.perform { chain.next() }
        return chain.wait()
    }

    private final class Chain: Sendable {
        private let loop: RunLoop
        private let left: Atomic<Int>
        private let before = Mutex<RunLoop.Statistics?>(nil)
        private let result = Mutex(0.0)
        private let isOver = DispatchSemaphore(value: 0)

        init(loop: RunLoop, length: Int) {
            self.loop = loop
            left = Atomic(length)
        }

        /// Runs on the loop, once a pass.
        func next() {
            let now = loop.statistics
            let start = before.withLock { before in
                if before == nil { before = now }
                return before ?? now
            }
            if left.subtract(1, ordering: .relaxed).newValue > 0 {
                loop.perform { self.next() }
                return
            }
            result.withLock {
                $0 = Double(now.kernelCalls - start.kernelCalls) / Double(now.passes - start.passes)
            }
            isOver.signal()
        }

        func wait() -> Double {
            isOver.wait()
            return result.withLock { $0 }
        }
    }
}
