#if OpenCombine
    internal import Foundation
    internal import FoundationRunLoops
    public import OpenCombine

    public import struct Notifications.Notification
    public import class Notifications.NotificationCenter

    extension NotificationCenter {
        /// The publishers of a center, under the name that OpenCombineFoundation has for those of Foundation's center.
        ///
        /// > Thread safety: any thread.
        public struct OCombine: Sendable {
            /// The publisher of notifications.
            public typealias Publisher = NotificationCenter.Publisher

            /// The center.
            public let center: NotificationCenter

            /// Makes the publishers of a center.
            ///
            /// - Parameter center: The center.
            public init(_ center: NotificationCenter) { self.center = center }

            /// Returns a publisher of notifications.
            ///
            /// - Parameters:
            ///   - name: The name of the notifications.
            ///   - object: The object of the notifications; nil for any object.
            /// - Returns: The publisher.
            public func publisher(for name: Notification.Name, object: AnyObject? = nil) -> Publisher {
                Publisher(center: center, name: name, object: object)
            }
        }

        /// The publishers of the center.
        public var ocombine: OCombine { OCombine(self) }

        /// Returns a publisher of notifications.
        ///
        /// - Parameters:
        ///   - name: The name of the notifications.
        ///   - object: The object of the notifications; nil for any object.
        /// - Returns: The publisher.
        ///
        /// > Thread safety: any thread.
        public func publisher(for name: Notification.Name, object: AnyObject? = nil) -> Publisher {
            ocombine.publisher(for: name, object: object)
        }

        /// A publisher of notifications.
        ///
        /// A subscriber is called on the thread that posts, one call after the other. Notifications that it has not requested are
        /// dropped. A subscription observes until it is cancelled or released.
        ///
        /// > Thread safety: a value.
        public struct Publisher: OpenCombine.Publisher, Equatable {
            /// The elements are notifications.
            public typealias Output = Notification
            /// The publisher does not fail.
            public typealias Failure = Never

            /// The center.
            public let center: NotificationCenter
            /// The name of the notifications.
            public let name: Notification.Name
            /// The object of the notifications; nil for any object.
            public let object: AnyObject?

            /// Makes a publisher.
            ///
            /// - Parameters:
            ///   - center: The center.
            ///   - name: The name of the notifications.
            ///   - object: The object of the notifications; nil for any object.
            public init(center: NotificationCenter, name: Notification.Name, object: AnyObject? = nil) {
                self.center = center
                self.name = name
                self.object = object
            }

            /// Adds a subscriber, which gets the notifications that it requests.
            ///
            /// - Parameter subscriber: The subscriber.
            public func receive<Downstream: Subscriber>(subscriber: Downstream)
            where Downstream.Input == Notification, Downstream.Failure == Never {
                let subscription = NotificationSubscription { subscriber.receive($0) }
                subscription.observe(center, name, object)
                subscriber.receive(subscription: subscription)
            }

            /// Returns true if both publish the same notifications.
            ///
            /// - Parameters:
            ///   - left: A publisher.
            ///   - right: Another publisher.
            /// - Returns: True if center, name and object are the same.
            public static func == (left: Publisher, right: Publisher) -> Bool {
                left.center === right.center && left.name == right.name && left.object === right.object
            }
        }
    }

    @available(*, unavailable)
    extension NotificationCenter.Publisher: Sendable {}

    /// The subscription of a subscriber to notifications.
    ///
    /// `@unchecked Sendable`: `state` is guarded by its lock, and the subscriber is called under `calls`.
    private final class NotificationSubscription: Subscription, CustomStringConvertible, @unchecked Sendable {
        private struct State: @unchecked Sendable {
            /// Ends the observation; nil before it has begun, and after the subscription was cancelled.
            var stop: (() -> Void)?
            var demand = Subscribers.Demand.none
        }

        /// Calls the subscriber, which answers with the number of further notifications that it requests.
        private let deliver: (Notification) -> Subscribers.Demand
        private let state = Guarded(State())
        /// The lock that is held while the subscriber is called, which can post and so be called again.
        private let calls = NSRecursiveLock()

        init(_ deliver: @escaping (Notification) -> Subscribers.Demand) { self.deliver = deliver }

        deinit { cancel() }

        func observe(_ center: NotificationCenter, _ name: Notification.Name, _ object: AnyObject?) {
            let token = center.addObserver(forName: name, object: object, queue: nil) { [weak self] note in
                self?.receive(note)
            }
            state.withLock { $0.stop = { center.removeObserver(token) } }
        }

        private func receive(_ notification: Notification) {
            calls.withLock {
                // The look under `calls` is the last one before the call: the subscription can be cancelled while this thread waits
                // for the call before.
                let isRequested = state.withLock { state in
                    guard state.stop != nil, state.demand != .none else { return false }
                    state.demand -= 1
                    return true
                }
                if isRequested { request(deliver(notification)) }
            }
        }

        func request(_ demand: Subscribers.Demand) { state.withLock { $0.demand += demand } }

        func cancel() { state.withLock { $0.stop.take() }?() }

        var description: String { "NotificationCenter Observer" }
    }
#endif
