internal import Dispatch
internal import Foundation

/// A post of a name to Foundation's center, with the same observers.
final class FoundationNamePoster: Poster {
    private let center: NotificationCenter
    private let name: Notification.Name

    init(
        in center: NotificationCenter = NotificationCenter(), name: String, observers: Int, calls: CallCounter
    ) {
        let name = Notification.Name(name)
        self.center = center
        self.name = name
        // The center keeps its observers alive, so the tokens are not stored.
        _ = center.addObserver(forName: Notification.Name("other"), object: nil, queue: nil) { _ in
            calls.increment()
        }
        for _ in 0..<observers {
            _ = center.addObserver(forName: name, object: nil, queue: nil) { _ in calls.increment() }
        }
    }

    func post(_ count: Int) {
        for _ in 0..<count { center.post(name: name, object: nil) }
    }

    /// Returns one poster for each name, all of which post to the same center.
    static func several(names: [String], calls: [CallCounter]) -> [any Poster] {
        let center = NotificationCenter()
        return zip(names, calls).map { FoundationNamePoster(in: center, name: $0, observers: 1, calls: $1) }
    }
}

/// A post of a typed message for the main actor to Foundation's center.
///
/// For the other kind of typed message, the post returns before the observers are called.
final class FoundationMessagePoster: Poster, @unchecked Sendable {
    // Safe because the tokens are only stored.
    private final class Subject: Sendable {}

    private struct Message: NotificationCenter.MainActorMessage {
        typealias Subject = FoundationMessagePoster.Subject
        let value: Int
    }

    private struct OtherMessage: NotificationCenter.MainActorMessage {
        typealias Subject = FoundationMessagePoster.Subject
    }

    private let center = NotificationCenter()
    private let subject = Subject()
    private let tokens: [NotificationCenter.ObservationToken]

    init(observers: Int, calls: CallCounter) {
        let center = center
        let other = center.addObserver(for: OtherMessage.self) { _ in calls.increment() }
        tokens =
            [other]
            + (0..<observers).map { _ in center.addObserver(for: Message.self) { _ in calls.increment() } }
    }

    /// Posts on the main thread.
    func post(_ count: Int) {
        MainActor.assumeIsolated {
            for value in 0..<count { center.post(Message(value: value), subject: subject) }
        }
    }
}

/// Foundation's `enqueue`, on the thread of a loop that does not run during the measurement.
///
/// The queue searches all waiting notifications. A merge can be measured while a hundred thousand notifications wait, but filling
/// the queue with coalescing would take too long.
final class FoundationEnqueuer: Enqueuer, @unchecked Sendable {
    // Safe because only the queue's thread uses the mutable state.
    let thread = WorkerThread()
    private let center = NotificationCenter()
    private let calls = CallCounter()
    private let pending: [Notification.Name]
    private var queue: NotificationQueue?
    private var posted = 0

    init(pending: Int) {
        self.pending = (0..<pending).map { Notification.Name("name \($0)") }
        _ = center.addObserver(forName: nil, object: nil, queue: nil) { [calls] _ in calls.increment() }
        thread.runAndWait { [self] in
            queue = NotificationQueue(notificationCenter: center)
            FoundationLoop.addIdleTimer()
        }
    }

    func fill() {
        for name in pending {
            queue?.enqueue(Notification(name: name), postingStyle: .asap, coalesceMask: [], forModes: nil)
        }
    }

    func merge(_ count: Int, _ scatter: inout ScatteredIndices) {
        guard let queue else { return }
        for _ in 0..<count {
            queue.enqueue(Notification(name: pending[scatter.next()]), postingStyle: .asap)
        }
    }

    /// Does nothing, because Foundation's queue does the same work for a new notification as for a merged one.
    func add(_ count: Int) {}

    func empty() throws(Miscount) {
        _ = RunLoop.current.run(mode: .default, before: Date())
        let found = calls.count - posted
        posted = calls.count
        try Miscount.check(expected: pending.count, found: found)
    }
}

/// Foundation's own way to call an observer on another thread: on an operation queue.
///
/// The post waits for the observer.
final class FoundationQueueChannel: MessageChannel {
    private let queue = DispatchQueue(label: "consumer")
    /// The operation queue, which the center does not keep alive, although observers are called only while it exists.
    private let operations = OperationQueue()
    private let pinning = QueuePinning()
    private let center = NotificationCenter()
    private let name = Notification.Name("redirected")

    init(sink: Sink) {
        operations.underlyingQueue = queue
        _ = center.addObserver(forName: name, object: nil, queue: operations) { [pinning] _ in
            pinning.checkProcessor()
            sink.receive(1)
        }
    }

    var consumerThreads: [ThreadNumber] { pinning.threads }

    func place(consumer processors: [Int32]) {
        pinning.pin(queue, to: processors)
    }

    func send(_ count: Int, from start: Int, producer: Int) -> Int {
        for _ in 0..<count { center.post(name: name, object: nil) }
        return count
    }

    var remark: String? {
        "† A queue has no thread of its own to pin. Every thread of the pool that was seen was pinned; "
            + "\(pinning.strayPercentage) of the calls still ran on another processor."
    }
}
