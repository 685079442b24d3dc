internal import CThreadControl
internal import RunLoops

/// Isolates wake-ups while the consumer is never out of work: each message costs it more than a send costs.
///
/// Whether a faster consumer runs dry is the machine's affair; what a busy one costs its senders is ours.
enum SaturatedLoop {
    /// How the loop waits.
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

    /// Kernel writes a message.
    ///
    /// - Returns: By the loop's statistics, and by the kernel's count of the process's write calls.
    static func kernelWritesPerMessage(
        _ policy: Policy, messages: Int, machine: Machine
    ) throws -> (own: Double, kernel: Double?) {
        let rig = Rig(window: 4096)
        let channel = try Channel(policy, sink: rig.sink)
        defer { channel.end() }
        rig.place(channel, on: machine)
        // Once for the caches, once for the count.
        _ = try rig.round(channel, producers: 1, length: .milliseconds(2))
        var sent = 0
        var kernel: Int?
        let before = channel.writes
        while sent < messages {
            let round = try rig.round(channel, producers: 1, length: .milliseconds(50))
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
            number = try thread.runLoop.performAndWait { [port] in
                RunLoop.current.waitPolicy = policy.waitPolicy
                RunLoop.current.add(port, forMode: .default) { message in
                    for _ in 0..<8 { bench_pause() }
                    sink.receive(message)
                }
                return ThreadNumber.current
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
