extension FlightRecorder {
    /// A recorded activity of a thread: a handler, a run, a sleep, a post, a wait or a mark.
    ///
    /// > Thread safety: a value.
    public struct Event: Hashable, Sendable {
        /// The kind of an event.
        ///
        /// > Thread safety: a value.
        @nonexhaustive
        public enum Kind: Hashable, Sendable {
            /// A call of a handler.
            ///
            /// The event's `place` is where the block, timer, source, port or observer was made. For a delivery, it is where the
            /// notification was made.
            case handler(RunLoop.HandlerKind)
            /// Several calls of message handlers, recorded as one event because they took long in total.
            ///
            /// ``FlightRecorder/Detail/sampled`` describes the limits. The count is the number of calls. The event's `place` is
            /// the place of one of the handlers.
            case handlers(count: Int)
            /// A run of a loop.
            ///
            /// The result is nil while the run is under way, or if the run did not begin because the mode was empty. The event's
            /// `place` is the name of the mode.
            case run(RunLoop.RunResult?)
            /// A sleep of a loop, with the reasons for which the sleep ended.
            case sleep(WakeReasons)
            /// Messages, such as blocks or port messages, that the thread sent together.
            ///
            /// The event's `place` is where the block or the port was made.
            case post(count: Int)
            /// A port that was full when the thread sent a message to it.
            ///
            /// The event's `place` is where the port was made.
            case fullPort
            /// A wait for another thread: for room in a port, for a reply, or for a block.
            ///
            /// A wait is refused if the threads would wait for each other for ever.
            case wait(isRefused: Bool)
            /// A mark that the program has recorded with ``FlightRecorder/mark(_:)``.
            ///
            /// The event's `place` is the text of the mark.
            case mark
            /// An interval that the program has recorded with ``FlightRecorder/interval(_:_:)``.
            ///
            /// The event's `place` is the text of the interval.
            case interval
            /// A notification that the thread has posted.
            ///
            /// The event's `place` is the name of the notification.
            case notification(observers: Int)
            /// Notifications that were discarded because an observer had no room for them.
            ///
            /// The event's `place` is where the notification was made.
            case drop(count: Int)
            /// The beginning or the end of a connection of a port between processes.
            ///
            /// The event's `place` is the name of the port.
            case connection(began: Bool)
        }

        /// The reasons for which a sleep has ended; empty if only its deadline has passed.
        ///
        /// > Thread safety: a value.
        public struct WakeReasons: OptionSet, Hashable, Sendable {
            /// The bits.
            public let rawValue: Int

            /// Makes a set of reasons from its bits.
            ///
            /// - Parameter rawValue: The bits.
            public init(rawValue: Int) { self.rawValue = rawValue }

            /// Other threads have sent messages.
            public static let messages = WakeReasons(rawValue: 1)
            /// A descriptor is ready.
            public static let descriptor = WakeReasons(rawValue: 2)
            /// A timer is due.
            public static let timer = WakeReasons(rawValue: 4)
        }

        /// The kind.
        public let kind: Kind
        /// The time at which the event began.
        ///
        /// If a loop calls the handlers of several messages in a row, the event of each handler begins when the event before it
        /// ends.
        public let start: ContinuousClock.Instant
        /// The duration of the event; zero for an event without duration, and nil while the event is under way.
        public let duration: Duration?
        /// The place in the source code that the event belongs to, as file ID and line; for some kinds of events, another text.
        ///
        /// Each case of ``Kind`` explains its place or text.
        public let place: String
        /// The nesting depth, that is, the number of recorded events that enclose this event on its thread.
        public let depth: Int
        /// The time from the sending of a message to the call of the message's handler.
        ///
        /// The time is nil if the sender has not recorded the message, or if this event is not the call of a message's handler.
        public let wait: Duration?
        /// The time from the fire date of a timer to the call of its handler; nil for a call of `fire()`, and for any other event.
        public let lateness: Duration?
        /// The number of messages in a port when the port's handler was called, including the message that the call handles.
        ///
        /// Messages that were sent together can count as one.
        public let waitingMessages: Int?
        /// A number that connects the event of sending a message with the event of handling it.
        ///
        /// Within one snapshot, both events have the same number. All other events have no number, so the property is nil.
        public let flow: UInt64?
    }
}

extension FlightRecorder.Event {
    init(_ event: RecordedEvent, isOpen: Bool, _ reading: FlightRecorder.Reading) {
        let start = reading.scale.moment(event.start)
        kind = Kind(event, isOpen: isOpen)
        self.start = start.instant
        // The duration is the difference of two moments, not a converted number of ticks. Otherwise two successive events could
        // overlap by a nanosecond.
        duration =
            isOpen ? nil : .nanoseconds(reading.scale.moment(event.end).nanoseconds - start.nanoseconds)
        let texts = reading.places
        place = event.place < texts.count ? texts[Int(event.place)] : texts[0]
        depth = event.depth
        // The stamp of a timer is one more than its lateness.
        let isPlanned = event.kind == .timer && event.stamp != 0
        lateness =
            isPlanned ? .nanoseconds(reading.scale.nanoseconds(UInt64(event.stamp - 1) << 6)) : nil
        waitingMessages = event.kind == .port && event.number > 0 ? event.number : nil
        // When a delivery is sent, its event gets a place that all deliveries share. When the delivery's handler is called, the
        // event gets the place of the notification. So the place of a delivery cannot be part of the identity.
        let isDelivery = event.kind == .delivery || place == SourceLocation.delivery.description
        let identity = UInt64(isDelivery ? 0 : event.place) << 32 | UInt64(event.stamp)
        switch event.kind {
        case .post where event.stamp != 0:
            wait = nil
            flow = identity
        case .block, .job, .port, .delivery:
            let ticks = MessageStamp.ticks(from: event.stamp, to: event.start)
            // The stamp of a message is the time at which it was sent. If an earlier recording has left a stamp in the node, that
            // stamp is older than this recording, and is ignored.
            let isFromHere = event.stamp != 0 && ticks <= event.start &- reading.began
            wait = isFromHere ? .nanoseconds(reading.scale.nanoseconds(ticks)) : nil
            flow = isFromHere ? identity : nil
        default:
            wait = nil
            flow = nil
        }
    }
}

extension FlightRecorder.Event.Kind {
    fileprivate init(_ event: RecordedEvent, isOpen: Bool) {
        switch event.kind {
        case .run: self = .run(isOpen ? nil : RunLoop.RunResult(rawValue: event.number))
        case .sleep: self = .sleep(FlightRecorder.Event.WakeReasons(rawValue: isOpen ? 0 : event.number))
        case .post: self = .post(count: event.number)
        case .fullPort: self = .fullPort
        case .wait: self = .wait(isRefused: event.number == 1)
        case .mark: self = .mark
        case .interval: self = .interval
        case .stretch: self = .handlers(count: event.number)
        case .notification: self = .notification(observers: event.number)
        case .drop: self = .drop(count: event.number)
        case .connection: self = .connection(began: event.number == 1)
        case .block, .job, .timer, .manualSource, .descriptor, .port, .observer, .delivery, .mainQueue,
            .deferredWork,
            .endHandler:
            guard let handler = event.kind.handler else {
                preconditionFailure("these are the kinds of handlers")
            }
            self = .handler(handler)
        }
    }
}
