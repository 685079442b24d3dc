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
