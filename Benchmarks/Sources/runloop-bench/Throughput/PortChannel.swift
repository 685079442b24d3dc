internal import RunLoops

/// Isolates our typed ports: messages of one word, singly or sixteen at a time.
///
/// Read the ratio to the list of the unlimited port with one producer first.
final class PortChannel: MessageChannel, @unchecked Sendable {
    // Safe because each producer has a batch of its own.
    private let batches: UnsafeMutablePointer<[Int]>
    private let thread: RunLoopThread
    private let port: Port<Int>
    private let number: ThreadNumber
    private let isBatched: Bool

    /// Starts the consumer.
    ///
    /// - Parameters:
    ///   - port: What the messages go through.
    ///   - policy: How the loop waits; `nil` for its default.
    ///   - isBatched: Whether sixteen messages are sent at a time.
    ///   - sink: Where the messages end.
    /// - Throws: What the system said when it gave no thread or descriptor.
    init(_ port: Port<Int>, policy: RunLoop.WaitPolicy? = nil, isBatched: Bool = false, sink: Sink) throws {
        self.port = port
        self.isBatched = isBatched
        batches = .allocate(capacity: Rig.mostProducers)
        for producer in 0..<Rig.mostProducers {
            (batches + producer).initialize(to: [Int](repeating: 0, count: 16))
        }
        thread = try RunLoopThread(name: "consumer")
        number = try thread.runLoop.performAndWait {
            if let policy { RunLoop.current.waitPolicy = policy }
            RunLoop.current.add(port, forMode: .default) { message in sink.receive(message) }
            return ThreadNumber.current
        }
    }

    var consumerThreads: [ThreadNumber] { [number] }

    var kernelWrites: Int? { Int(thread.runLoop.statistics.kernelWrites) }

    func send(_ count: Int, from start: Int, producer: Int) throws -> Int {
        if isBatched {
            for first in stride(from: start, to: start + count, by: 16) {
                for index in 0..<16 { batches[producer][index] = first + index }
                try port.send(contentsOf: batches[producer])
            }
        } else {
            for value in start..<start + count { try port.send(value) }
        }
        return sum(count, from: start)
    }
}
