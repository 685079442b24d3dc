internal import Notifications
internal import RunLoops

/// A post of a name to a center of this package.
///
/// The closure of each observer captures one object.
final class NamePoster: Poster {
    private let center: NotificationCenter
    private let name: Notification.Name
    private let tokens: [ObservationToken]

    init(
        in center: NotificationCenter = NotificationCenter(), name: String, observers: Int, calls: CallCounter
    ) {
        let name = Notification.Name(name)
        self.center = center
        self.name = name
        // A center without observers of this name usually has observers of other names.
        let other = center.addObserver(forName: Notification.Name("other")) { _ in calls.increment() }
        tokens =
            [other]
            + (0..<observers).map { _ in center.addObserver(forName: name) { _ in calls.increment() } }
    }

    func post(_ count: Int) {
        for _ in 0..<count { center.post(name: name) }
    }

    /// Returns one poster for each name, all of which post to the same center.
    static func several(names: [String], calls: [CallCounter]) -> [any Poster] {
        let center = NotificationCenter()
        return zip(names, calls).map { NamePoster(in: center, name: $0, observers: 1, calls: $1) }
    }
}

/// A post of a typed message to a center of this package.
final class MessagePoster: Poster {
    private final class Subject: Sendable {}

    private struct Message: NotificationMessage {
        typealias Subject = MessagePoster.Subject
        let value: Int
    }

    private struct OtherMessage: NotificationMessage {
        typealias Subject = MessagePoster.Subject
    }

    private let center = NotificationCenter()
    private let subject = Subject()
    private let tokens: [ObservationToken]

    init(observers: Int, calls: CallCounter) {
        let other = center.addObserver(for: OtherMessage.self) { _ in calls.increment() }
        tokens =
            [other]
            + (0..<observers).map { [center] _ in
                center.addObserver(for: Message.self) { _ in calls.increment() }
            }
    }

    func post(_ count: Int) {
        for value in 0..<count { center.post(Message(value: value), subject: subject) }
    }
}

/// A post to one observer, which is called on the loop of another thread.
///
/// Read the ratio to Foundation's `perform`, which does the same work.
final class RedirectedChannel: MessageChannel {
    private let thread: RunLoopThread
    private let center = NotificationCenter()
    private let name = Notification.Name("redirected")
    private let token: ObservationToken
    private let number: ThreadNumber

    init(sink: Sink) throws {
        thread = try RunLoopThread(name: "consumer")
        number = try thread.prepare()
        token = center.addObserver(forName: name, on: thread.runLoop) { _ in sink.receive(1) }
    }

    var consumerThreads: [ThreadNumber] { [number] }

    var kernelWrites: Int? { Int(thread.runLoop.statistics.kernelWrites) }

    func send(_ count: Int, from start: Int, producer: Int) -> Int {
        for _ in 0..<count { center.post(name: name) }
        return count
    }
}

/// `enqueue` of this package's queue, on the thread of a loop that does not run during the measurement.
final class QueueEnqueuer: Enqueuer, @unchecked Sendable {
    // Safe because only the queue's thread uses the mutable state.
    let thread = WorkerThread()
    private let center = NotificationCenter()
    private let calls = CallCounter()
    private let token: ObservationToken
    private let pending: [Notification.Name]
    private let others: [Notification.Name]
    private var queue: NotificationQueue?
    /// The number of `others` that wait.
    private var added = 0
    private var posted = 0

    init(pending: Int, others: Int) {
        // Short names are stored inline, so their copies are not reference-counted. Copies of constants, which most programs use,
        // are not reference-counted either.
        self.pending = (0..<pending).map { Notification.Name("name \($0)") }
        self.others = (0..<others).map { Notification.Name("other \($0)") }
        token = center.addObserver(forName: nil) { [calls] _ in calls.increment() }
        thread.runAndWait { [self] in queue = NotificationQueue(notificationCenter: center) }
    }

    func fill() {
        for name in pending { queue?.enqueue(Notification(name: name), postingStyle: .asap) }
    }

    func merge(_ count: Int, _ scatter: inout ScatteredIndices) {
        guard let queue else { return }
        for _ in 0..<count {
            queue.enqueue(Notification(name: pending[scatter.next()]), postingStyle: .asap)
        }
    }

    func add(_ count: Int) {
        guard let queue else { return }
        for name in others[added..<added + count] {
            queue.enqueue(Notification(name: name), postingStyle: .asap)
        }
        added += count
    }

    func empty() throws(Miscount) {
        // The deadline has passed, so the loop makes one pass, and posts all notifications at its end.
        RunLoop.current.run(until: .now)
        let found = calls.count - posted
        posted = calls.count
        try Miscount.check(expected: pending.count + added, found: found)
        added = 0
    }
}
