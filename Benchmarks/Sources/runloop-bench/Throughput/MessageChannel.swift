internal import RunLoops
internal import Synchronization

/// One way to hand messages to a thread.
protocol MessageChannel: AnyObject, Sendable {
    /// The threads that take the messages.
    var consumerThreads: [ThreadNumber] { get }

    /// Lets the consumer run on these processors only.
    func place(consumer processors: [Int32])

    /// Sends so many messages; one call for many, so that calling through the protocol costs nothing.
    ///
    /// - Parameters:
    ///   - count: How many; a multiple of sixteen.
    ///   - start: The first message's value; the next is one more. Closures carry their producer's value.
    ///   - producer: Which producer calls, from zero. Each calls from one thread.
    /// - Returns: What the values add up to.
    /// - Throws: Why a message was not taken.
    func send(_ count: Int, from start: Int, producer: Int) throws -> Int

    /// Kernel writes made by senders so far, as the channel itself counts them.
    var kernelWrites: Int? { get }

    /// What a reader must know about the rounds so far.
    var remark: String? { get }
}

extension MessageChannel {
    func place(consumer processors: [Int32]) {
        for thread in consumerThreads { thread.pin(to: processors) }
    }

    var kernelWrites: Int? { nil }

    var remark: String? { nil }

    /// What `count` values from `start` add up to.
    func sum(_ count: Int, from start: Int) -> Int { count &* start &+ count &* (count - 1) / 2 }
}

/// The ways that are compared.
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

    /// Ours, theirs or neither.
    var role: Chart.Role {
        switch self {
        case .list, .array: .yardstick
        case .port, .portParked, .portBounded, .portBatch, .perform: .ours
        case .foundation, .dispatch, .nio: .peer
        }
    }
}

extension ThroughputSubject {
    /// Starts this subject's consumer.
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

/// Where every message ends, whatever brought it: counts them and adds their values up.
///
/// A message that is lost, or comes twice, shows in the count or in the sum.
final class Sink: @unchecked Sendable {
    // Safe because the sum has one writer, the consumer, and is read after a count that was stored after it.
    private let state: UnsafeMutablePointer<State>

    private struct State: ~Copyable {
        let received = Atomic<Int>(0)
        var sum = 0
    }

    init() {
        // Lines of its own: the producers look at the count while the consumer moves it.
        state = UnsafeMutableRawPointer.allocate(byteCount: 256, alignment: 128)
            .bindMemory(to: State.self, capacity: 1)
        state.initialize(to: State())
    }

    deinit {
        state.deinitialize(count: 1)
        UnsafeMutableRawPointer(state).deallocate()
    }

    /// How many messages have come, since the program began.
    var received: Int { state.pointee.received.load(ordering: .acquiring) }

    /// What the values of those messages add up to.
    var sum: Int { state.pointee.sum }

    /// Takes a message: the consumer's thread calls it.
    @inline(__always)
    func receive(_ value: Int) {
        state.pointee.sum &+= value
        // One writer, so a load and a store will do.
        let received = state.pointee.received.load(ordering: .relaxed)
        state.pointee.received.store(received &+ 1, ordering: .releasing)
    }
}

/// The one object that a message's closure captures, where the message is a closure.
final class Payload: Sendable {
    private let sink: Sink
    /// What it adds to the sum.
    let value: Int

    init(value: Int, sink: Sink) {
        self.value = value
        self.sink = sink
    }

    /// One payload for each producer.
    static func each(for sink: Sink) -> [Payload] {
        (0..<ThroughputRunner.mostProducers).map { Payload(value: $0 + 1, sink: sink) }
    }

    /// Delivers the message.
    @inline(__always)
    func deliver() { sink.receive(value) }
}
