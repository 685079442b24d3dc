internal import Dispatch

/// Isolates `async` to a serial queue with a closure that captures one object.
final class DispatchChannel: MessageChannel {
    private let queue = DispatchQueue(label: "consumer")
    private let consumerPlace = DispatchPlace()
    private let parcels: [Parcel]

    init(sink: Sink) { parcels = Parcel.each(for: sink) }

    var consumerThreads: [ThreadNumber] { consumerPlace.numbers }

    func place(consumer processors: [Int32]) {
        for _ in 0..<8 { queue.async { [consumerPlace] in consumerPlace.notice() } }
        queue.sync {}
        consumerPlace.allow(processors)
        for thread in consumerThreads { thread.pin(to: processors) }
    }

    func send(_ count: Int, from start: Int, producer: Int) -> Int {
        let parcel = parcels[producer]
        // One look per call at where the queue runs; one per message would cost what it looks at.
        queue.async { [consumerPlace] in consumerPlace.check() }
        for _ in 0..<count { queue.async { parcel.arrive() } }
        return count &* parcel.value
    }

    var remark: String? {
        "† Dispatch: a queue has no thread to pin. Every pool thread that was seen was pinned; "
            + "\(NumberFormat.percent.text(consumerPlace.strayShare)) of the blocks that looked still ran "
            + "on another processor."
    }
}
