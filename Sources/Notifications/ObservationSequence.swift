internal import RunLoops
internal import Synchronization

/// An asynchronous sequence of posted notifications or messages, which a task awaits one by one.
///
/// Observing begins with the iteration, that is, when `makeAsyncIterator()` is called or a `for await` loop begins. The posting
/// thread never waits: elements that arrive while the task is busy are buffered or dropped according to the ``BufferingPolicy``,
/// and ``Iterator/droppedCount`` counts the dropped elements. The sequence ends when its task is cancelled or the center is
/// destroyed; elements that are buffered at that moment are still delivered.
///
/// ```swift
/// var notes = center.notifications(named: .didConnect, bufferingPolicy: .newest(64)).makeAsyncIterator()
/// while let note = await notes.next() {
///     if notes.droppedCount > 0 { resynchronize() }
/// }
/// ```
///
/// > Thread safety: a value; each iteration is a separate observation.
public struct ObservationSequence<Element: Sendable>: AsyncSequence, Sendable {
    /// The policy that decides which elements are buffered while the task is busy.
    ///
    /// > Thread safety: a value.
    @nonexhaustive
    public enum BufferingPolicy: Hashable, Sendable {
        /// All elements are buffered; if the task is too slow, they take up more and more memory.
        case unbounded
        /// The oldest elements are buffered, up to this number (at least 1), and newer ones are dropped.
        case oldest(Int)
        /// The newest elements are buffered, up to this number (at least 1), and older ones are dropped.
        case newest(Int)
    }

    let bufferingPolicy: BufferingPolicy
    /// Registers a handler for the elements.
    ///
    /// Returns nil if the center, or the object to observe, has been destroyed.
    let observe: @Sendable (@escaping @Sendable (Element) -> Void) -> ObservationToken?

    /// Begins observing.
    ///
    /// - Returns: An iterator over the elements.
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

    /// The object through which the center's handler puts elements into the stream that the task reads.
    ///
    /// Only the handler holds the feed, so the stream ends when the handler is released.
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
    /// An iterator over the elements, in the order of posting.
    ///
    /// The iterator observes until its last copy is destroyed. Copies share the elements: each element is delivered to one copy
    /// only.
    ///
    /// > Thread safety: one task at a time.
    public struct Iterator: AsyncIteratorProtocol {
        private var base: AsyncStream<Element>.Iterator
        private let drops: DropCount
        /// The token, which ends the observation when the iterator is destroyed.
        private let token: ObservationToken?

        fileprivate init(base: AsyncStream<Element>.Iterator, drops: DropCount, token: ObservationToken?) {
            self.base = base
            self.drops = drops
            self.token = token
        }

        /// The number of elements that were dropped since observing began, for this iterator and its copies together.
        public var droppedCount: Int { drops.count.load(ordering: .relaxed) }

        /// Awaits the next element.
        ///
        /// - Returns: The element, or nil if the task was cancelled or the center was destroyed.
        public mutating func next() async -> Element? { await base.next(isolation: #isolation) }

        /// Awaits the next element.
        ///
        /// - Parameter actor: The actor that the caller is isolated to.
        /// - Returns: The element, or nil if the task was cancelled or the center was destroyed.
        public mutating func next(isolation actor: isolated (any Actor)?) async -> Element? {
            await base.next(isolation: actor)
        }
    }
}

@available(*, unavailable)
extension ObservationSequence.Iterator: Sendable {}

extension NotificationCenter {
    /// Returns an asynchronous sequence of notifications.
    ///
    /// - Parameters:
    ///   - name: The name to observe; nil for every name.
    ///   - object: The object whose notifications to observe; nil for notifications with any object, or without one. The object is
    ///     not kept alive.
    ///   - bufferingPolicy: The policy that decides which elements are buffered while the task is busy. There is no default,
    ///     because each policy costs either elements or memory.
    /// - Returns: The sequence. It does not keep the center alive.
    ///
    /// > Thread safety: any thread.
    public func notifications(
        named name: Notification.Name?, object: (any AnyObject & Sendable)? = nil,
        bufferingPolicy: ObservationSequence<Notification>.BufferingPolicy
    ) -> ObservationSequence<Notification> {
        let subject = object.map { WeakReference($0) }
        return ObservationSequence(bufferingPolicy: bufferingPolicy) { [weak self] handler in
            guard let subject else { return self?.addObserver(forName: name, using: handler) }
            // If the object has been destroyed, there is nothing to observe: nothing more is posted for that object, and
            // notifications of other objects are not wanted.
            guard let object = subject.sendable else { return nil }
            return self?.addObserver(forName: name, object: object, using: handler)
        }
    }

    /// Returns an asynchronous sequence of messages of a type.
    ///
    /// - Parameters:
    ///   - subject: The object whose messages to observe; nil for messages with any subject, or without one. The subject is not
    ///     kept alive.
    ///   - type: The type of message to observe.
    ///   - bufferingPolicy: The policy that decides which elements are buffered while the task is busy. There is no default, as
    ///     for ``notifications(named:object:bufferingPolicy:)``.
    /// - Returns: The sequence. It does not keep the center alive.
    ///
    /// > Thread safety: any thread.
    public func messages<Message: NotificationMessage>(
        of subject: Message.Subject? = nil, for type: Message.Type,
        bufferingPolicy: ObservationSequence<Message>.BufferingPolicy
    ) -> ObservationSequence<Message> {
        sequence(of: type, of: subject, bufferingPolicy: bufferingPolicy)
    }
}
