internal import CRunLoops
public import RunLoops
internal import Synchronization

/// An object that delivers posted notifications to their observers.
///
/// A post calls the observers one after the other, on the posting thread, and returns when the last one has returned. Observers are
/// called in the order in which they were registered, including those that observe every name. An observer that is registered
/// during a post is not called for that post. If an observer is removed during a post, before its turn, it is not called either.
/// An observer may post, register and remove; no lock is held while it is called. <doc:Delivery> has the details.
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

    /// The observations that apply to one name only, keyed by that name.
    let names: ObserverMap<Notification.Name>
    /// The observations that apply to notifications of any name.
    let everyName: ObserverMap<EveryName>
    /// The observations of messages, keyed by the identity of the message type.
    let messages: ObserverMap<ObjectIdentifier>
    /// The observations of each observing object, keyed by the identity of the object.
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
    /// You may call this anywhere, including in a `deinit` and in an observer's handler.
    ///
    /// Observers on a loop of another thread are called later, and the post does not wait for them to be called. The post waits
    /// for room only if the ``NotificationCenter/Capacity`` of one of these observers requires that.
    ///
    /// - Parameter notification: The notification.
    /// - Complexity: O(*n*), where *n* is the number of observers of this name, plus those that observe every name.
    ///
    /// > Thread safety: any thread. The observers are called on the calling thread, except those that are on a loop.
    public func post(_ notification: Notification) {
        let record = CallRecord.current
        let named = names.observers(of: notification.name, record)
        let every = everyName.observers(of: EveryName(), record)
        if named.count + every.count == 0 { return }
        if runloops_records() {
            Recorder.notePost(of: notification.name.rawValue, observers: named.count + every.count)
        }
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

    /// Makes a notification, and posts it.
    ///
    /// Equivalent to ``post(_:)`` with a new notification.
    ///
    /// - Parameters:
    ///   - name: The name of the event.
    ///   - object: The object that the notification is about, usually its sender.
    ///   - userInfo: Facts about the event, by key.
    ///   - fileID: The file of the call, for diagnostics.
    ///   - line: The line of the call, for diagnostics.
    ///
    /// > Thread safety: any thread. The observers are called on the calling thread, except those that are on a loop.
    @_disfavoredOverload
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
        // registered under a name or under every name.
        unsafe observation._withUnsafeGuaranteedRef { observation in
            if observation.matches(notification.sender, isHeld: notification.holdsSender) {
                observation.call(notification, in: slot)
            }
        }
    }

    // MARK: - Observing

    /// Registers a handler that is called on the posting thread.
    ///
    /// A handler that is registered twice is called twice.
    ///
    /// - Parameters:
    ///   - name: The name to observe; nil for every name.
    ///   - object: The object whose notifications to observe; nil for notifications with any object, or without one. The center
    ///     does not keep the object alive, and does not call the handler after the object has been destroyed.
    ///   - handler: Called on the posting thread.
    /// - Returns: A token. The observation ends when the token is removed or the last reference to it is released. The handler
    ///   is released at that moment or, if a call of it is still running, when the last call returns.
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
    /// Equivalent to ``ObservationToken/remove()``. The token may belong to any center.
    ///
    /// - Parameter token: The token that `addObserver` has returned.
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
            // The reference is weak, because a token can outlive its center. Destroying the center ends the observation.
            return Registration(observation) { [weak names] in names?.forget(for: name) }
        }
        let observation = everyName.add(for: EveryName()) {
            Observation(sequence: $0, object: object, target: target, handler: handler)
        }
        return Registration(observation) { [weak everyName] in everyName?.forget(for: EveryName()) }
    }
}

extension NotificationCenter: HashableByIdentity {}

/// A counter that numbers the registrations of a center.
private final class SequenceCounter: Sendable {
    private let count = Atomic<UInt64>(0)
    func next() -> UInt64 { count.add(1, ordering: .relaxed).newValue }
}
