internal import RunLoops
internal import Synchronization

/// Tells everybody who wants to know that something has happened.
///
/// A post calls the observers at once, one after the other, on the thread that posts, and returns when the last one has. They
/// are called in the order in which they were registered, those that observe every name included. Who registers during a
/// post is not called for it; who is removed during it, and was not called yet, is not called any more. An observer may
/// post, register and remove; no lock is held while it is called. <doc:Delivery> has the whole of it.
///
/// ```swift
/// let token = NotificationCenter.default.addObserver(forName: .didConnect) { note in log(note) }
/// NotificationCenter.default.post(name: .didConnect)
/// token.remove()
/// ```
///
/// > Thread safety: any thread.
public final class NotificationCenter: Sendable {
    /// The process's own center.
    ///
    /// Others are independent of it.
    public static let `default` = NotificationCenter()

    let names: ObserverMap<Notification.Name>
    /// Those who observe every name.
    let everyName: ObserverMap<EveryName>
    /// Those who observe a type of message.
    let messages: ObserverMap<ObjectIdentifier>
    /// By the identity of the object that observes.
    let objects = ForkSafe<[ObjectIdentifier: [ObjectObservation]]>([:])

    /// The only key of a map that has one.
    struct EveryName: ObserverKey {
        var shardHash: Int { 0 }
    }

    /// Makes a center, which nobody observes yet.
    public init() {
        // The maps take their sequence numbers from one counter, which they hold and the center does not outlive.
        let counter = SequenceCounter()
        names = ObserverMap(shardCount: 64) { counter.next() }
        everyName = ObserverMap(shardCount: 1) { counter.next() }
        messages = ObserverMap(shardCount: 64) { counter.next() }
    }

    // MARK: - Posting

    /// Calls everybody who observes the notification, and returns when the last one has.
    ///
    /// Legal everywhere, also from a `deinit` and inside an observer.
    ///
    /// Observers on a loop are called later, unless it is this thread's: the post does not wait for them. It waits for
    /// room if the ``NotificationRedirector/Capacity`` of one of them says so.
    ///
    /// - Parameter notification: What has happened.
    /// - Complexity: O(*n*) for *n* observers of the name, and those of every name.
    ///
    /// > Thread safety: any thread, on which the observers are called.
    public func post(_ notification: Notification) {
        let record = CallRecord.current
        let named = names.observers(of: notification.name, record)
        let every = everyName.observers(of: EveryName(), record)
        if named.count + every.count == 0 { return }
        record.withPlace { place in
            // Both are in order of registration: merged, all are.
            var next = 0
            for index in 0..<every.count {
                while next < named.count, unsafe named[next].sequence < every[index].sequence {
                    unsafe deliver(notification, to: named[next], place)
                    next += 1
                }
                unsafe deliver(notification, to: every[index], place)
            }
            while next < named.count {
                unsafe deliver(notification, to: named[next], place)
                next += 1
            }
        }
    }

    /// Posts a notification.
    ///
    /// As ``post(_:)``.
    ///
    /// - Parameters:
    ///   - name: What it is about.
    ///   - object: Usually who posts it.
    ///   - userInfo: Facts about it, by key.
    ///   - fileID: Where it is posted, for diagnostics.
    ///   - line: Where it is posted, for diagnostics.
    ///
    /// > Thread safety: any thread, on which the observers are called.
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
        _ place: borrowing CallRecord.Place
    ) {
        // Safe: the list that the post has a reference to holds the observation. Under a name, and under every name, only
        // observations of notifications are registered.
        unsafe observation._withUnsafeGuaranteedRef { observation in
            if observation.matches(notification.sender) { observation.call(notification, in: place) }
        }
    }

    // MARK: - Observing

    /// Registers a handler.
    ///
    /// Registered twice, it is called twice.
    ///
    /// - Parameters:
    ///   - name: What is observed; nil for everything.
    ///   - object: Whose notifications are observed; nil for anybody's. It is not kept alive, and once it has gone
    ///     the handler is not called any more.
    ///   - handler: Called on the thread that posts.
    /// - Returns: A token: the observation ends when it is removed, or when its last copy goes. The handler is let go of
    ///   then, or when the last call of it returns.
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
    /// The same as the token's own ``ObservationToken/remove()``, whichever center gave the token.
    ///
    /// - Parameter token: What registering gave.
    ///
    /// > Thread safety: any thread.
    public func removeObserver(_ token: ObservationToken) { token.remove() }

    func register(
        _ name: Notification.Name?, _ object: (any AnyObject & Sendable)?, target: RedirectedObserver? = nil,
        _ handler: @escaping @Sendable (Notification) -> Void
    ) -> Registration {
        let handler = NotificationHandler(handler)
        if let name {
            let observation = names.add(for: name) {
                Observation(sequence: $0, object: object, target: target, handler: handler)
            }
            // Weak: a token may outlive its center, which ends the observation when it goes.
            return Registration(observation) { [weak names] in names?.forget(for: name) }
        }
        let observation = everyName.add(for: EveryName()) {
            Observation(sequence: $0, object: object, target: target, handler: handler)
        }
        return Registration(observation) { [weak everyName] in everyName?.forget(for: EveryName()) }
    }
}

/// Numbers the registrations of a center.
private final class SequenceCounter: Sendable {
    private let count = Atomic<UInt64>(0)
    func next() -> UInt64 { count.add(1, ordering: .relaxed).newValue }
}
