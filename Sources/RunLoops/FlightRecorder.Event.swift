extension FlightRecorder {
    /// A recorded activity of a thread: a handler, a run, a sleep, a post, a wait or a mark.
    ///
    /// > Thread safety: a value.
    public struct Event: Hashable, Sendable {
        /// The kind of an event.
        ///
        /// > Thread safety: a value.
        public enum Kind: Hashable, Sendable {
            /// A call of a handler.
            ///
            /// The event's place is that of the block, timer, source, port or observer; for a delivery, it is that of the
            /// notification.
            case handler(RunLoop.HandlerKind)
            /// Calls of message handlers that are recorded as one event, because together they took long.
            ///
            /// The event's place is that of one of these handlers.
            case stretch(count: Int)
            /// A run of a loop.
            ///
            /// The result is nil while the run is under way, or if the mode had no input to run for. The event's place is the mode.
            case run(RunLoop.RunResult?)
            /// A sleep of a loop, with the reasons for which the sleep ended.
            case sleep(WakeReasons)
            /// Messages that the thread sent together.
            ///
            /// The event's place is that of the block, or of the port.
            case post(count: Int)
            /// A port that the thread found full.
            ///
            /// The event's place is that of the port.
            case fullPort
            /// A wait for another thread: for room in a port, for a reply, for a block.
            case wait(isRefused: Bool)
            /// A mark that the program has recorded.
            ///
            /// The event's place is the text of the mark.
            case mark
            /// An interval that the program has recorded.
            ///
            /// The event's place is the text of the interval.
            case interval
            /// A notification that the thread has posted.
            ///
            /// The event's place is the name of the notification.
            case notification(observers: Int)
            /// Notifications that were discarded because an observer had no room.
            ///
            /// The event's place is that of the notification.
            case drop(count: Int)
            /// The beginning or the end of a connection of a port between processes.
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
        /// The place in the source code, as file ID and line, or another text, as ``Kind`` describes.
        public let place: String
        /// The number of recorded events of the thread that enclose this event.
        public let depth: Int
        /// The time from the sending of a message to the call of its handler, if the sender has recorded the message.
        public let wait: Duration?
        /// The time from the fire date of a timer to the call of its handler.
        public let lateness: Duration?
        /// The number of messages that waited in a port when its handler was called, including the message that is handled in that
        /// call.
        ///
        /// Messages that were sent together can count as one.
        public let waitingMessages: Int?
        /// A number that the event of a post shares with the event of the message's handler, within one snapshot.
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
        lateness =
            event.kind == .timer ? .nanoseconds(reading.scale.nanoseconds(UInt64(event.stamp) << 6)) : nil
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
            // If an earlier recording has left a stamp in the node, the stamp is older than this recording, and is ignored.
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
        case .stretch: self = .stretch(count: event.number)
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
