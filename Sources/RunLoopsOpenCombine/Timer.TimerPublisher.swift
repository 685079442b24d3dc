#if OpenCombine
    public import Foundation
    internal import FoundationRunLoops
    public import OpenCombine

    public import class RunLoops.RunLoop
    public import class RunLoops.Timer

    extension Timer {
        /// The publisher of timers, under the name that OpenCombineFoundation has for Foundation's timers.
        ///
        /// > Thread safety: a value.
        public enum OCombine: Sendable {
            /// The publisher of timers.
            public typealias TimerPublisher = Timer.TimerPublisher
        }

        /// Returns a publisher of the present date, which is sent each time that a repeating timer fires.
        ///
        /// - Parameters:
        ///   - interval: The seconds between two dates.
        ///   - tolerance: Ignored, as in Combine; the publisher's initializer takes a tolerance.
        ///   - runLoop: The loop that has the timer.
        ///   - mode: The mode of the timer.
        ///   - options: Ignored.
        /// - Returns: The publisher.
        ///
        /// > Thread safety: any thread.
        public static func publish(
            every interval: TimeInterval, tolerance: TimeInterval? = nil, on runLoop: RunLoop,
            in mode: RunLoop.Mode, options: RunLoop.SchedulerOptions? = nil
        ) -> TimerPublisher {
            TimerPublisher(interval: interval, runLoop: runLoop, mode: mode, options: options)
        }

        /// A publisher of the present date, which is sent each time that a repeating timer fires.
        ///
        /// Each connection has a timer of its own, and sends the date to all subscribers, in the order of their subscriptions. When
        /// a connection is cancelled, no subscriber gets a date any more.
        ///
        /// > Thread safety: any thread. The subscribers are called on the thread of the loop.
        public final class TimerPublisher: ConnectablePublisher, Sendable {
            /// The elements are dates.
            public typealias Output = Date
            /// The publisher does not fail.
            public typealias Failure = Never

            /// The seconds between two dates.
            public let interval: TimeInterval
            /// The time by which a date may be late to share a wake-up of the loop; nil for zero.
            public let tolerance: TimeInterval?
            /// The loop that has the timer.
            public let runLoop: RunLoop
            /// The mode of the timer.
            public let mode: RunLoop.Mode
            /// The options, which are ignored.
            public let options: RunLoop.SchedulerOptions?

            private let receivers = Guarded<[any TimerReceiver]>([])

            /// Makes a publisher, which is not connected yet.
            ///
            /// - Parameters:
            ///   - interval: The seconds between two dates.
            ///   - tolerance: The time by which a date may be late; nil for zero.
            ///   - runLoop: The loop that has the timer.
            ///   - mode: The mode of the timer.
            ///   - options: Ignored.
            public init(
                interval: TimeInterval, tolerance: TimeInterval? = nil, runLoop: RunLoop, mode: RunLoop.Mode,
                options: RunLoop.SchedulerOptions? = nil
            ) {
                self.interval = interval
                self.tolerance = tolerance
                self.runLoop = runLoop
                self.mode = mode
                self.options = options
            }

            /// Adds a subscriber, which gets the dates that it requests.
            ///
            /// - Parameter subscriber: The subscriber.
            public func receive<Downstream: Subscriber>(subscriber: Downstream)
            where Downstream.Input == Date, Downstream.Failure == Never {
                let subscription = TimerSubscription(subscriber, of: self)
                receivers.withLock { $0.append(subscription) }
                subscriber.receive(subscription: subscription)
            }

            /// Starts a timer that sends dates.
            ///
            /// - Returns: What ends the timer, on any thread.
            public func connect() -> any Cancellable {
                let timer = Timer(timeInterval: interval, repeats: true) { [self] timer in
                    let date = Date()
                    for receiver in receivers.withLock({ $0 }) where timer.isValid { receiver.send(date) }
                }
                timer.tolerance = tolerance ?? 0
                runLoop.add(timer, forMode: mode)
                return Connection(timer: timer, publisher: self)
            }

            fileprivate func forget(_ receiver: any TimerReceiver) {
                // The receivers are released after the lock.
                let removed = receivers.withLock { receivers in
                    let place = receivers.firstIndex { $0 === receiver }
                    return place.map { receivers.remove(at: $0) }
                }
                withExtendedLifetime(removed) {}
            }

            private func forgetAll() {
                withExtendedLifetime(receivers.withLock { exchange(&$0, with: []) }) {}
            }

            private struct Connection: Cancellable {
                let timer: Timer
                let publisher: TimerPublisher

                func cancel() {
                    timer.invalidate()
                    publisher.forgetAll()
                }
            }
        }
    }

    /// The subscription to a timer, without the type of its subscriber.
    private protocol TimerReceiver: AnyObject, Sendable {
        func send(_ date: Date)
    }

    /// The subscription of a subscriber to a timer.
    ///
    /// `@unchecked Sendable`: `state` is guarded by its lock; the subscriber is called on the thread of the loop.
    private final class TimerSubscription<Downstream: Subscriber>: Subscription, TimerReceiver,
        @unchecked Sendable
    where Downstream.Input == Date, Downstream.Failure == Never {
        private struct State: @unchecked Sendable {
            /// The subscriber; nil after the subscription was cancelled.
            var downstream: Downstream?
            var demand = Subscribers.Demand.none

            /// Takes one of the dates that are requested; nil if there are none.
            mutating func take() -> Downstream? {
                guard let downstream, demand != .none else { return nil }
                demand -= 1
                return downstream
            }
        }

        private let state: Guarded<State>
        private weak var publisher: Timer.TimerPublisher?

        init(_ downstream: Downstream, of publisher: Timer.TimerPublisher) {
            state = Guarded(State(downstream: downstream))
            self.publisher = publisher
        }

        func send(_ date: Date) {
            guard let downstream = state.withLock({ $0.take() }) else { return }
            request(downstream.receive(date))
        }

        func request(_ demand: Subscribers.Demand) { state.withLock { $0.demand += demand } }

        func cancel() {
            let downstream = state.withLock { $0.downstream.take() }
            if downstream != nil { publisher?.forget(self) }
        }
    }
#endif
