internal import Synchronization

/// The counters of a loop.
///
/// Only the loop's own thread writes the counters, with plain stores. Any thread can read them.
struct Counters: ~Copyable, Sendable {
    let passes = Counter()
    let wakeUps = Counter()
    let kernelCalls = Counter()
    /// Messages and signals of ports.
    let portMessages = Counter()
    let spinHits = Counter()
    let spinMisses = Counter()
    let timerFires = Counter()
    /// Nodes that the loop has taken out of its mailbox.
    let takenNodes = Counter()
    /// Blocks, parcels and jobs that the loop has queued.
    let takenBlocks = Counter()
    /// Blocks, parcels and jobs that have run.
    let blocks = Counter()
    let busyTime = BusyTime()
}

extension Counters {
    /// The number of messages that were handled, of every kind.
    var messages: Int { portMessages.value &+ blocks.value }
}

/// The time that the longest handler call took, and the place where that handler was made.
struct LongestHandler {
    let nanoseconds: Int64
    let origin: SourceLocation
}

/// A number that one thread increases and any thread can read.
package struct Counter: ~Copyable, Sendable {
    private let count = Atomic<Int>(0)

    package init() {}

    package var value: Int { count.load(ordering: .relaxed) }

    /// Adds a number, without a locked instruction, because there is only one writer.
    package func add(_ number: Int = 1) { count.store(value &+ number, ordering: .relaxed) }
}
