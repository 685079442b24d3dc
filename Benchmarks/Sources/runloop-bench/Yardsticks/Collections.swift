internal import CYardsticks
internal import Notifications
internal import Synchronization

/// The yardstick for ratios: a mutex-free list in C with one malloc per message.
///
/// Isolates what handing over one message costs when it is done well with common means.
final class ListChannel: MessageChannel, @unchecked Sendable {
    // Safe because the list is made for use by many threads, and the pointer never changes.
    private let list: OpaquePointer
    private let consumer = WorkerThread()

    init(sink: Sink) {
        guard let list = bench_list_create() else { fatalError("ListChannel.init: no memory or descriptors") }
        self.list = list
        consumer.run { [self] in
            bench_list_run(
                self.list,
                { context, value in
                    guard let context else { return }
                    Unmanaged<Sink>.fromOpaque(context)._withUnsafeGuaranteedRef { $0.receive(Int(value)) }
                }, Unmanaged.passRetained(sink).toOpaque())
        }
    }

    var consumerThreads: [ThreadNumber] { [consumer.number] }

    func send(_ count: Int, from start: Int, producer: Int) -> Int {
        for value in start..<start + count { bench_list_push(list, Int64(value)) }
        return sum(count, from: start)
    }
}

/// The yardstick for a mailbox in Swift: an array of messages, swapped for an empty one under a lock.
///
/// Isolates what a cleverer mailbox buys: it has no node, no allocation and no run loop either.
final class ArrayChannel: MessageChannel {
    private struct State {
        var messages = ContiguousArray<Int>()
        /// Whether the consumer sleeps, or is about to.
        var isArmed = false
    }

    private let state = Mutex(State())
    private let parker = Parker()
    private let consumer = WorkerThread()

    init(sink: Sink) {
        consumer.run { [self] in
            // Two arrays that take turns: once both have grown, nothing is allocated.
            var messages = ContiguousArray<Int>()
            while true {
                take(into: &messages)
                if messages.isEmpty { parker.park() }
                for index in messages.indices { sink.receive(messages[index]) }
                messages.removeAll(keepingCapacity: true)
            }
        }
    }

    var consumerThreads: [ThreadNumber] { [consumer.number] }

    func send(_ count: Int, from start: Int, producer: Int) -> Int {
        for value in start..<start + count {
            let mustWake = state.withLock { state in
                state.messages.append(value)
                defer { state.isArmed = false }
                return state.isArmed
            }
            if mustWake { parker.unpark() }
        }
        return sum(count, from: start)
    }

    /// Takes all messages; the consumer is armed if there is none.
    private func take(into messages: inout ContiguousArray<Int>) {
        state.withLock { state in
            swap(&state.messages, &messages)
            state.isArmed = messages.isEmpty
        }
    }
}

/// Isolates memory: each look-up finds one of as many names in a dictionary, and adds one to its number.
///
/// Read its quotient beside the queue's: it is what having many costs a program that does nothing else.
final class DictionaryEnqueuer: Enqueuer, @unchecked Sendable {
    // Safe because all that changes is touched by the thread only.
    let thread = WorkerThread()
    private let pending: [Notification.Name]
    private var counts: [Notification.Name: Int] = [:]
    private var merged = 0

    init(pending: Int) { self.pending = (0..<pending).map { Notification.Name("name \($0)") } }

    func fill() {
        for name in pending { counts[name] = 0 }
    }

    func merge(_ count: Int, _ scatter: inout ScatteredIndices) {
        for _ in 0..<count { counts[pending[scatter.next()], default: 0] += 1 }
        merged += count
    }

    /// Not measured: a dictionary that grows is another story.
    func add(_ count: Int) {}

    func empty() throws(Miscount) {
        try Miscount.check(expected: pending.count, found: counts.count)
        try Miscount.check(expected: merged, found: counts.values.reduce(0, +))
    }
}
