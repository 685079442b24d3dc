internal import Synchronization

/// The counters of a loop.
///
/// Only the loop's own thread writes the counters, with plain stores. Any thread can read them.
struct Counters: ~Copyable, Sendable {
    let passes = Counter()
    let wakeUps = Counter()
    let kernelCalls = Counter()
    /// The number of messages and signals that the loop has passed to the handlers of its ports.
    let portMessages = Counter()
    let spinHits = Counter()
    let spinMisses = Counter()
    let timerFires = Counter()
    /// The number of nodes that the loop has taken out of its mailbox.
    let takenNodes = Counter()
    /// The number of blocks, parcels (``Parcel``) and jobs that the loop has put into its queue.
    let takenBlocks = Counter()
    /// The number of blocks, parcels and jobs that the loop has run.
    let blocks = Counter()
    let busyTime = BusyTime()
}

extension Counters {
    /// The number of messages that the loop has handled: port messages, signals, blocks, parcels and jobs.
    var messages: Int { portMessages.value &+ blocks.value }
}

/// The duration of the longest call of a handler on a loop, and the source location of that handler.
struct LongestHandler {
    let nanoseconds: Int64
    let origin: SourceLocation
}

/// A number that one thread increases and any thread can read.
package struct Counter: ~Copyable, Sendable {
    private let count = Atomic<Int>(0)

    package init() {}

    package var value: Int { count.load(ordering: .relaxed) }

    /// Adds a number.
    ///
    /// Only one thread writes, so this needs no locked instruction.
    package func add(_ number: Int = 1) { count.store(value &+ number, ordering: .relaxed) }
}
