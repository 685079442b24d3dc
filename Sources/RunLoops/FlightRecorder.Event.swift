extension FlightRecorder {
    /// Something that a thread did, or is doing.
    ///
    /// > Thread safety: a value.
    public struct Event: Hashable, Sendable {
        /// The kind of an event.
        ///
        /// > Thread safety: a value.
        public enum Kind: Hashable, Sendable {
            /// A call of a handler. The place is that of the block, timer, source, port or observer; for a delivery, that of
            /// the notification.
            case handler(RunLoop.HandlerKind)
            /// Handlers of messages that were not recorded one by one, and took long together. The place is that of one of them.
            case stretch(count: Int)
            /// A run of a loop; the result is nil while it is under way, and if there was nothing to run for. The place is the
            /// mode.
            case run(RunLoop.RunResult?)
            /// A sleep of a loop, with the reasons for which it has ended.
            case sleep(WakeReasons)
            /// Messages that the thread has sent together. The place is that of the block, or of the port.
            case post(count: Int)
            /// A port that the thread found full. The place is the port's.
            case fullPort
            /// A wait for another thread: for room in a port, for a reply, for a block.
            case wait(isRefused: Bool)
            /// A mark that the program has recorded. The place is the text of the mark.
            case mark
            /// An interval that the program has recorded. The place is the text of the interval.
            case interval
            /// A notification that the thread has posted. The place is its name.
            case notification(observers: Int)
            /// Notifications discarded because an observer had no room. The place is the observer's.
            case drop(count: Int)
            /// A connection of a port between processes that has begun or ended.
            case connection(began: Bool)
        }

        /// The reasons for which a sleep has ended; empty if only its deadline has passed.
        ///
        /// > Thread safety: a value.
        public struct WakeReasons: OptionSet, Hashable, Sendable {
            /// The bits.
            public let rawValue: Int

            /// Makes a set of its bits.
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
        /// The date at which it began.
        public let start: ContinuousClock.Instant
        /// The time that it took; zero for an event that takes none, and nil while it is under way.
        public let duration: Duration?
        /// The place in the source, as file identifier and line, or the text that is described at the kind.
        public let place: String
        /// The number of recorded slices of the thread around this one.
        public let depth: Int
        /// For the handler of a message, the time from the sending to the call, if the sender has recorded it.
        public let wait: Duration?
        /// For the handler of a timer, the time from its date to the call.
        public let lateness: Duration?
        /// For the handler of a port, the number of the port's messages that waited when it was called, this one included;
        /// messages that were sent together may count as one.
        public let waitingMessages: Int?
        /// A number that a post and the handler of its message have in common, within one snapshot.
        public let flow: UInt64?
    }
}

extension FlightRecorder.Event {
    init(_ event: RecordedEvent, isOpen: Bool, _ reading: FlightRecorder.Reading) {
        let start = reading.scale.moment(event.start)
        kind = Kind(event, isOpen: isOpen)
        self.start = start.instant
        // The difference of two moments, so that slices that follow each other do not overlap by a nanosecond.
        duration =
            isOpen ? nil : .nanoseconds(reading.scale.moment(event.end).nanoseconds - start.nanoseconds)
        let texts = reading.places
        place = event.place < texts.count ? texts[Int(event.place)] : texts[0]
        depth = event.depth
        lateness =
            event.kind == .timer ? .nanoseconds(reading.scale.nanoseconds(UInt64(event.stamp) << 6)) : nil
        waitingMessages = event.kind == .port && event.number > 0 ? event.number : nil
        // A delivery has a place of its own only when it is made.
        let isDelivery = event.kind == .delivery || place == SourceLocation.delivery.description
        let identity = UInt64(isDelivery ? 0 : event.place) << 32 | UInt64(event.stamp)
        switch event.kind {
        case .post where event.stamp != 0:
            wait = nil
            flow = identity
        case .block, .job, .port, .delivery:
            let ticks = MessageStamp.ticks(from: event.stamp, to: event.start)
            // A stamp that is older than this recording was left in the node by an earlier recording.
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
