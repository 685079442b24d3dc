internal import Dispatch
internal import Foundation

/// Isolates Foundation's own way to call an observer elsewhere, on an operation queue; the post waits for it.
final class FoundationQueueChannel: MessageChannel {
    private let queue = DispatchQueue(label: "consumer")
    /// The center does not keep it, and without it nobody is called.
    private let operations = OperationQueue()
    private let consumerPlace = DispatchPlace()
    private let center = NotificationCenter()
    private let name = Notification.Name("redirected")

    init(sink: Sink) {
        operations.underlyingQueue = queue
        _ = center.addObserver(forName: name, object: nil, queue: operations) { [consumerPlace] _ in
            consumerPlace.check()
            sink.receive(1)
        }
    }

    var consumerThreads: [ThreadNumber] { consumerPlace.numbers }

    func place(consumer processors: [Int32]) {
        for _ in 0..<8 { queue.async { [consumerPlace] in consumerPlace.notice() } }
        queue.sync {}
        consumerPlace.allow(processors)
        for thread in consumerThreads { thread.pin(to: processors) }
    }

    func send(_ count: Int, from start: Int, producer: Int) -> Int {
        for _ in 0..<count { center.post(name: name, object: nil) }
        return count
    }

    var remark: String? {
        "† A queue has no thread to pin. Every pool thread that was seen was pinned; "
            + "\(NumberFormat.percent.text(consumerPlace.strayShare)) of the calls still ran on another processor."
    }
}
