internal import RunLoops
internal import Synchronization

/// Notifications or messages as they are posted, for a task to await one after the other.
///
/// Observing begins when the sequence is iterated: with `makeAsyncIterator()`, or with the head of a `for await` loop. The
/// posting thread never waits: what comes while the task is busy is kept as the ``BufferingPolicy`` says, and what that
/// drops is counted in ``Iterator/droppedCount``. The sequence ends when its task is cancelled, and when the center
/// goes; what is kept then is still given.
///
/// ```swift
/// var notes = center.notifications(named: .didConnect, bufferingPolicy: .newest(64)).makeAsyncIterator()
/// while let note = await notes.next() {
///     if notes.droppedCount > 0 { resynchronize() }
/// }
/// ```
///
/// > Thread safety: a value; each iteration observes for itself.
public struct ObservationSequence<Element: Sendable>: AsyncSequence, Sendable {
    /// What is kept for a task that is busy.
    ///
    /// > Thread safety: a value.
    public enum BufferingPolicy: Hashable, Sendable {
        /// Everything: a task that is too slow costs memory.
        case unbounded
        /// The first so many, at least 1; what comes later is dropped.
        case oldest(Int)
        /// The last so many, at least 1; what came before is dropped.
        case newest(Int)
    }

    let bufferingPolicy: BufferingPolicy
    /// Registers a handler; nil if the center has gone.
    let observe: @Sendable (@escaping @Sendable (Element) -> Void) -> ObservationToken?

    /// Begins to observe.
    ///
    /// - Returns: What gives the elements.
    public func makeAsyncIterator() -> Iterator {
        let policy: AsyncStream<Element>.Continuation.BufferingPolicy
        switch bufferingPolicy {
        case .unbounded: policy = .unbounded
        case .oldest(let count): policy = .bufferingOldest(checked(count))
        case .newest(let count): policy = .bufferingNewest(checked(count))
        }
        let (stream, continuation) = AsyncStream<Element>.makeStream(bufferingPolicy: policy)
        let feed = Feed(continuation)
        let drops = feed.drops
        let token = observe { feed.take($0) }
        return Iterator(base: stream.makeAsyncIterator(), drops: drops, token: token)
    }

    private func checked(_ count: Int) -> Int {
        if count < 1 {
            fatalError("BufferingPolicy: \(count) keeps nothing; use at least 1")
        }
        return count
    }

    /// Held by the handler alone: when the observation ends, so does the stream.
    private final class Feed: Sendable {
        let drops = DropCount()
        private let continuation: AsyncStream<Element>.Continuation

        init(_ continuation: AsyncStream<Element>.Continuation) { self.continuation = continuation }

        func take(_ element: Element) {
            if case .dropped = continuation.yield(element) { drops.count.add(1, ordering: .relaxed) }
        }

        deinit { continuation.finish() }
    }

    fileprivate final class DropCount: Sendable {
        let count = Atomic<Int>(0)
    }
}

extension ObservationSequence {
    /// Gives what was posted, in order.
    ///
    /// It observes until it goes. A copy gives from the same elements.
    ///
    /// > Thread safety: one task at a time.
    public struct Iterator: AsyncIteratorProtocol {
        private var base: AsyncStream<Element>.Iterator
        private let drops: DropCount
        /// Ends the observation with the iterator.
        private let token: ObservationToken?

        fileprivate init(base: AsyncStream<Element>.Iterator, drops: DropCount, token: ObservationToken?) {
            self.base = base
            self.drops = drops
            self.token = token
        }

        /// How many were dropped since observing began, for this iterator and its copies together.
        public var droppedCount: Int { drops.count.load(ordering: .relaxed) }

        /// The next one.
        ///
        /// - Returns: Nil when the task was cancelled or the center has gone.
        public mutating func next() async -> Element? { await base.next(isolation: #isolation) }

        /// The next one.
        ///
        /// - Parameter actor: Where the caller runs.
        /// - Returns: Nil when the task was cancelled or the center has gone.
        public mutating func next(isolation actor: isolated (any Actor)?) async -> Element? {
            await base.next(isolation: actor)
        }
    }
}

@available(*, unavailable)
extension ObservationSequence.Iterator: Sendable {}

extension NotificationCenter {
    /// Notifications as a sequence to await.
    ///
    /// - Parameters:
    ///   - name: What is observed; nil for everything.
    ///   - object: Whose notifications are observed; nil for anybody's. It is not kept alive.
    ///   - bufferingPolicy: What is kept for a task that is busy. There is no default: each one loses something.
    /// - Returns: The sequence. It does not keep the center.
    ///
    /// > Thread safety: any thread.
    public func notifications(
        named name: Notification.Name?, object: (any AnyObject & Sendable)? = nil,
        bufferingPolicy: ObservationSequence<Notification>.BufferingPolicy
    ) -> ObservationSequence<Notification> {
        let subject = object.map { WeakReference($0) }
        return ObservationSequence(bufferingPolicy: bufferingPolicy) { [weak self] handler in
            guard let subject else { return self?.addObserver(forName: name, using: handler) }
            // An object that has gone posts nothing any more, and nobody else's are wanted.
            guard let object = subject.sendable else { return nil }
            return self?.addObserver(forName: name, object: object, using: handler)
        }
    }

    /// Messages of a type as a sequence to await.
    ///
    /// - Parameters:
    ///   - subject: Whose messages are observed; nil for anybody's. It is not kept alive.
    ///   - type: The type.
    ///   - bufferingPolicy: What is kept for a task that is busy. There is no default, as for
    ///     ``notifications(named:object:bufferingPolicy:)``.
    /// - Returns: The sequence. It does not keep the center.
    ///
    /// > Thread safety: any thread.
    public func messages<Message: NotificationMessage>(
        of subject: Message.Subject? = nil, for type: Message.Type,
        bufferingPolicy: ObservationSequence<Message>.BufferingPolicy
    ) -> ObservationSequence<Message> {
        let reference = subject.map { WeakReference($0) }
        return ObservationSequence(bufferingPolicy: bufferingPolicy) { [weak self] handler in
            guard let reference else { return self?.addObserver(for: type, using: handler) }
            guard let subject = reference.object(as: Message.Subject.self) else { return nil }
            return self?.addObserver(of: subject, for: type, using: handler)
        }
    }
}
