internal import RunLoops
internal import Synchronization

/// A way to send messages to a thread.
protocol MessageChannel: AnyObject, Sendable {
    /// The threads that receive the messages.
    var consumerThreads: [ThreadNumber] { get }

    /// Restricts the consumer to the given processors.
    func place(consumer processors: [Int32])

    /// Sends many messages in one call, so that the cost of the call through the protocol is negligible.
    ///
    /// - Parameters:
    ///   - count: The number of messages, which is a multiple of sixteen.
    ///   - start: The value of the first message. Each next value is one more. Closures carry the value of their producer instead.
    ///   - producer: The number of the calling producer, from zero. Each producer calls on one thread.
    /// - Returns: The sum of the values.
    /// - Throws: The error with which a message was refused.
    func send(_ count: Int, from start: Int, producer: Int) throws -> Int

    /// The number of kernel writes that senders have made so far, by the channel's own count.
    var kernelWrites: Int? { get }

    /// A note that a reader needs to understand the figures so far.
    var remark: String? { get }
}

extension MessageChannel {
    func place(consumer processors: [Int32]) {
        for thread in consumerThreads { thread.pin(to: processors) }
    }

    var kernelWrites: Int? { nil }

    var remark: String? { nil }

    /// The sum of `count` values from `start` on.
    func sum(_ count: Int, from start: Int) -> Int { count &* start &+ count &* (count - 1) / 2 }
}

/// The channels that are compared.
enum ThroughputSubject: String, CaseIterable {
    case list = "list (C, malloc per message)"
    case array = "array swapped under a lock"
    case port = "RunLoops port, unlimited"
    case portParked = "RunLoops port, unlimited, park"
    case portBounded = "RunLoops port, default limit"
    case portBatch = "RunLoops port, batches of 16"
    case perform = "RunLoops perform"
    case foundation = "Foundation perform + wake"
    case dispatch = "Dispatch async (†)"
    case nio = "SwiftNIO execute"

    /// The relation to this package.
    var role: Chart.Role {
        switch self {
        case .list, .array: .yardstick
        case .port, .portParked, .portBounded, .portBatch, .perform: .ours
        case .foundation, .dispatch, .nio: .peer
        }
    }
}

extension ThroughputSubject {
    /// Starts the consumer of this subject.
    func make(sink: Sink) throws -> any MessageChannel {
        switch self {
        case .list: ListChannel(sink: sink)
        case .array: ArrayChannel(sink: sink)
        case .port: try PortChannel(Port(queueLimit: .unlimited), sink: sink)
        case .portParked: try PortChannel(Port(queueLimit: .unlimited), policy: .park, sink: sink)
        case .portBounded: try PortChannel(Port(), sink: sink)
        case .portBatch: try PortChannel(Port(queueLimit: .unlimited), isBatched: true, sink: sink)
        case .perform: try PerformChannel(sink: sink)
        case .foundation: FoundationChannel(sink: sink)
        case .dispatch: DispatchChannel(sink: sink)
        case .nio: NIOChannel(sink: sink)
        }
    }
}

/// The receiver of all messages of all channels, which counts messages and adds up their values.
///
/// A message that is lost or arrives twice changes the count or the sum.
final class Sink: @unchecked Sendable {
    // Safe because only the consumer stores the sum, and then the count. Other threads load the count before the sum.
    private let state: UnsafeMutablePointer<State>

    private struct State: ~Copyable {
        let received = Atomic<Int>(0)
        var sum = 0
    }

    init() {
        // On its own cache lines, because the producers load the count while the consumer stores it.
        state = UnsafeMutableRawPointer.allocate(byteCount: 256, alignment: 128)
            .bindMemory(to: State.self, capacity: 1)
        state.initialize(to: State())
    }

    deinit {
        state.deinitialize(count: 1)
        UnsafeMutableRawPointer(state).deallocate()
    }

    /// The number of messages that have arrived since the program began.
    var received: Int { state.pointee.received.load(ordering: .acquiring) }

    /// The sum of the values of these messages.
    var sum: Int { state.pointee.sum }

    /// Takes a message.
    ///
    /// Only the consumer's thread calls this.
    @inline(__always)
    func receive(_ value: Int) {
        state.pointee.sum &+= value
        // The consumer is the only writer, so no atomic addition is needed.
        let received = state.pointee.received.load(ordering: .relaxed)
        state.pointee.received.store(received &+ 1, ordering: .releasing)
    }
}

/// The one object that the closure captures if a message is a closure.
final class Payload: Sendable {
    private let sink: Sink
    /// The value that a message adds to the sum.
    let value: Int

    init(value: Int, sink: Sink) {
        self.value = value
        self.sink = sink
    }

    /// The number of messages that have arrived at the sink.
    var received: Int { sink.received }

    /// One payload for each producer.
    static func each(for sink: Sink) -> [Payload] {
        (0..<ThroughputRunner.mostProducers).map { Payload(value: $0 + 1, sink: sink) }
    }

    /// Delivers the message.
    @inline(__always)
    func deliver() { sink.receive(value) }
}
