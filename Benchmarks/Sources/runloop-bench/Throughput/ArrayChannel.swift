internal import Synchronization

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
    private let bed = Bed()
    private let consumer = WorkerThread()

    init(sink: Sink) {
        consumer.run { [self] in
            // Two arrays that take turns: once both have grown, nothing is allocated.
            var messages = ContiguousArray<Int>()
            while true {
                take(into: &messages)
                if messages.isEmpty { bed.sleep() }
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
            if mustWake { bed.wake() }
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
