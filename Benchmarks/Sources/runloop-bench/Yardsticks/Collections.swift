internal import CYardsticks
internal import Notifications
internal import Synchronization

/// The yardstick for ratios: a list in C without locks and with one malloc per message.
///
/// Its cost is the cost of a message in a good implementation with common means.
final class ListChannel: MessageChannel, @unchecked Sendable {
    // Safe because the list allows calls from many threads, and the pointer never changes.
    private let list: OpaquePointer
    private let consumer = WorkerThread()

    init(sink: Sink) {
        guard let list = bench_list_create() else {
            fatalError("ListChannel.init: the system refused memory or descriptors")
        }
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

/// The yardstick for a mailbox in Swift: an array of messages that is swapped for an empty one under a lock.
///
/// The ratio to this yardstick is the gain of a cleverer mailbox. The array needs no node, no allocation and no run loop either.
final class ArrayChannel: MessageChannel {
    private struct State {
        var messages = ContiguousArray<Int>()
        /// True while the consumer sleeps or is about to sleep.
        var isArmed = false
    }

    private let state = Mutex(State())
    private let parker = Parker()
    private let consumer = WorkerThread()

    init(sink: Sink) {
        consumer.run { [self] in
            // The two arrays take turns. After both have grown, nothing is allocated.
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

    /// Takes all messages, and arms the consumer if there are none.
    private func take(into messages: inout ContiguousArray<Int>) {
        state.withLock { state in
            swap(&state.messages, &messages)
            state.isArmed = messages.isEmpty
        }
    }
}

/// A dictionary with as many names as the queue, in which each look-up finds one name and adds one to its count.
///
/// Compare its ratio with the ratio of the queue. The ratio of the dictionary is the cost of memory for many names in a program
/// that does nothing else.
final class DictionaryEnqueuer: Enqueuer, @unchecked Sendable {
    // Safe because only `thread` uses the mutable state.
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

    /// Does nothing, because growing a dictionary has other costs.
    func add(_ count: Int) {}

    func empty() throws(Miscount) {
        try Miscount.check(expected: pending.count, found: counts.count)
        try Miscount.check(expected: merged, found: counts.values.reduce(0, +))
    }
}
