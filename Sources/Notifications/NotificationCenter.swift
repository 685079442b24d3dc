internal import RunLoops
internal import Synchronization

/// A center that passes the notifications that are posted to it on to their observers.
///
/// A post calls the observers one after the other, on the posting thread, and returns when the last one has returned. They are
/// called in the order in which they were registered, those that observe every name included. An observer that is registered
/// during a post is not called for it. An observer that is removed during a post, and was not called yet, is not called any
/// more. An observer may post, register and remove; no lock is held while it is called. <doc:Delivery> has the details.
///
/// ```swift
/// let token = NotificationCenter.default.addObserver(forName: .didConnect) { note in log(note) }
/// NotificationCenter.default.post(name: .didConnect)
/// token.remove()
/// ```
///
/// > Thread safety: any thread.
public final class NotificationCenter: Sendable {
    /// The default center of the process.
    ///
    /// Other centers are independent of it.
    public static let `default` = NotificationCenter()

    /// The observations of one name.
    let names: ObserverMap<Notification.Name>
    /// The observations of every name.
    let everyName: ObserverMap<EveryName>
    /// The observations of messages, by the identity of their type.
    let messages: ObserverMap<ObjectIdentifier>
    /// The observations by objects, by the identity of the object that observes.
    let objects = ForkSafe<[ObjectIdentifier: [ObjectObservation]]>([:])

    /// Makes a center without observers.
    public init() {
        // The maps share one counter, so that the order of registration spans all of them.
        let counter = SequenceCounter()
        names = ObserverMap(shardCount: 64) { counter.next() }
        everyName = ObserverMap(shardCount: 1) { counter.next() }
        messages = ObserverMap(shardCount: 64) { counter.next() }
    }

    // MARK: - Posting

    /// Calls the observers of a notification, and returns when the last one has returned.
    ///
    /// Legal everywhere, including a `deinit` and an observer.
    ///
    /// Observers on a loop of another thread are called later: the post does not wait for them. It waits for room only if the
    /// ``NotificationRedirector/Capacity`` of one of them says so.
    ///
    /// - Parameter notification: The notification.
    /// - Complexity: O(*n*) for *n* observers of the name, and those of every name.
    ///
    /// > Thread safety: any thread. The observers are called on it.
    public func post(_ notification: Notification) {
        let record = CallRecord.current
        let named = names.observers(of: notification.name, record)
        let every = everyName.observers(of: EveryName(), record)
        if named.count + every.count == 0 { return }
        record.withSlot { slot in
            // Each list is in order of registration, so merging them keeps that order.
            var next = 0
            for index in 0..<every.count {
                while next < named.count, unsafe named[next].sequence < every[index].sequence {
                    unsafe deliver(notification, to: named[next], slot)
                    next += 1
                }
                unsafe deliver(notification, to: every[index], slot)
            }
            while next < named.count {
                unsafe deliver(notification, to: named[next], slot)
                next += 1
            }
        }
    }

    /// Makes a notification and posts it.
    ///
    /// The same as ``post(_:)`` with a new notification.
    ///
    /// - Parameters:
    ///   - name: The name of the event.
    ///   - object: The object that the notification is about, usually its sender.
    ///   - userInfo: Facts about the event, by key.
    ///   - fileID: The file of the call, for diagnostics.
    ///   - line: The line of the call, for diagnostics.
    ///
    /// > Thread safety: any thread. The observers are called on it.
    public func post(
        name: Notification.Name, object: (any AnyObject & Sendable)? = nil,
        userInfo: [String: any Sendable] = [:],
        fileID: StaticString = #fileID, line: Int = #line
    ) {
        post(Notification(name: name, object: object, userInfo: userInfo, fileID: fileID, line: line))
    }

    @inline(__always)
    private func deliver(
        _ notification: Notification, to observation: Unmanaged<Observation>,
        _ slot: borrowing CallRecord.Slot
    ) {
        // Safe: the post has a reference to the list, which retains the observation. Only observations of notifications are
        // registered under a name and under every name.
        unsafe observation._withUnsafeGuaranteedRef { observation in
            if observation.matches(notification.sender) { observation.call(notification, in: slot) }
        }
    }

    // MARK: - Observing

    /// Registers a handler.
    ///
    /// A handler that is registered twice is called twice.
    ///
    /// - Parameters:
    ///   - name: The name to observe; nil for every name.
    ///   - object: The object whose notifications to observe; nil for those of any object and of none. It is not kept alive,
    ///     and the handler is not called after it was destroyed.
    ///   - handler: Called on the posting thread.
    /// - Returns: A token. The observation ends when the token is removed, or when its last copy is destroyed. The handler is
    ///   released then, or when its last call returns.
    ///
    /// > Thread safety: any thread.
    public func addObserver(
        forName name: Notification.Name?, object: (any AnyObject & Sendable)? = nil,
        using handler: @escaping @Sendable (Notification) -> Void
    ) -> ObservationToken {
        ObservationToken(register(name, object, handler))
    }

    /// Ends an observation.
    ///
    /// The same as ``ObservationToken/remove()``, for a token of any center.
    ///
    /// - Parameter token: The token that registering has returned.
    ///
    /// > Thread safety: any thread.
    public func removeObserver(_ token: ObservationToken) { token.remove() }

    func register(
        _ name: Notification.Name?, _ object: (any AnyObject & Sendable)?,
        target: (any DeliveryTarget)? = nil,
        _ handler: @escaping @Sendable (Notification) -> Void
    ) -> Registration {
        let handler = NotificationHandler(handler)
        if let name {
            let observation = names.add(for: name) {
                Observation(sequence: $0, object: object, target: target, handler: handler)
            }
            // Weak, because a token may outlive its center, whose destruction ends the observation.
            return Registration(observation) { [weak names] in names?.forget(for: name) }
        }
        let observation = everyName.add(for: EveryName()) {
            Observation(sequence: $0, object: object, target: target, handler: handler)
        }
        return Registration(observation) { [weak everyName] in everyName?.forget(for: EveryName()) }
    }
}

/// The source of the numbers of a center's registrations.
private final class SequenceCounter: Sendable {
    private let count = Atomic<UInt64>(0)
    func next() -> UInt64 { count.add(1, ordering: .relaxed).newValue }
}
