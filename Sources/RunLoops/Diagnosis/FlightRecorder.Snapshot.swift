extension FlightRecorder {
    /// The last events of all recorded threads.
    ///
    /// > Thread safety: a value.
    public struct Snapshot: Sendable {
        /// The earliest time that the snapshot covers.
        ///
        /// This is the beginning of the recording or of the recorder's ``FlightRecorder/window``, whichever is later.
        public let start: ContinuousClock.Instant
        /// The time at which the snapshot was taken.
        public let end: ContinuousClock.Instant
        /// The threads, in the order in which each was first recorded.
        public let threads: [Thread]
        /// The number of threads that were not recorded, because the recorder already recorded too many other threads.
        public let unrecordedThreadCount: Int
        /// True if this is a recording of a simulation, whose clock can begin at any time.
        package let isSimulated: Bool

        /// The last events of one thread.
        ///
        /// > Thread safety: a value.
        public struct Thread: Sendable {
            /// The number of the thread in the recording, from 0.
            package let number: Int
            /// The system's ID of the thread, which debuggers and `top -H` show; in a simulation, a number from 0.
            public let id: Int32
            /// The name that the thread had in the system when its first event was recorded; up to 15 bytes.
            ///
            /// In a simulation, this is the name of the `RunLoopThread`, or `simulation` for the thread of the simulation's body.
            public let name: String
            /// True if the thread has ended.
            public let hasEnded: Bool
            /// True if some events of the covered time are missing, because newer events of the thread have overwritten them.
            public let lacksEvents: Bool

            fileprivate let recorded: [RecordedEvent]
            fileprivate let open: [RecordedEvent]
            fileprivate let reading: Reading
        }
    }

    /// The data for converting recorded events: their ticks to dates, and their place numbers to texts.
    struct Reading: Sendable {
        let scale: TickScale
        /// The time at which the recording began, in ticks.
        let began: UInt64
        let places: [String]
    }

    /// Copies the last events of all recorded threads.
    ///
    /// No thread waits for the copy, and no thread is stopped.
    ///
    /// - Returns: The events, or a snapshot without threads if the recorder was stopped.
    ///
    /// > Thread safety: any thread.
    public func snapshot() -> Snapshot {
        let taken = Recording.read(session.generation) { session, rings, unrecorded in
            let copies = rings.map { ring in
                // The events under way are copied before the events that have ended. If an event ends between the two copies, it is
                // in both, and the code below removes it from the events under way.
                (ring: ring.thread, hasEnded: ring.hasEnded, open: ring.copyOpen(), copy: ring.copyEvents())
            }
            let now = session.clock.reading()
            let reading = Reading(
                scale: TickScale(session.began, now), began: session.began.ticks,
                places: RecordedPlaces.texts())
            let start = max(session.began.moment, now.moment.advanced(by: -window.nanosecondsRoundedUp))
            let threads = copies.map { thread, hasEnded, open, copy in
                let events = copy.events.filter { reading.scale.moment($0.end) >= start }
                let ended = Set(events.map(\.identity))
                return Snapshot.Thread(
                    number: thread.number, id: thread.id, name: thread.name, hasEnded: hasEnded,
                    lacksEvents: copy.lostOlder && events.count == copy.events.count, recorded: events,
                    open: hasEnded ? [] : open.filter { !ended.contains($0.identity) }, reading: reading)
            }
            return Snapshot(
                start: start.instant, end: now.moment.instant,
                threads: threads.sorted { $0.number < $1.number },
                unrecordedThreadCount: unrecorded, isSimulated: session.isSimulated)
        }
        let now = RunLoop.now
        return taken
            ?? Snapshot(start: now, end: now, threads: [], unrecordedThreadCount: 0, isSimulated: false)
    }
}

extension FlightRecorder.Snapshot.Thread {
    /// The events that have ended, in the order in which they ended.
    ///
    /// The property is computed at each access, in time proportional to the number of events.
    public var events: [FlightRecorder.Event] {
        recorded.map { FlightRecorder.Event($0, isOpen: false, reading) }
    }

    /// Returns the events that ended after a time.
    ///
    /// - Parameter ticks: The time, from ``lastTicks`` of an earlier snapshot of the same recorder. The parameter is not a date,
    ///   because the dates of one event in two snapshots can differ by some nanoseconds.
    /// - Returns: The events, in the order in which they ended.
    package func events(after ticks: UInt64) -> [FlightRecorder.Event] {
        recorded.filter { $0.end > ticks }.map { FlightRecorder.Event($0, isOpen: false, reading) }
    }

    /// The time at which the last event ended, in ticks of the recorder's clock; nil if there is no event.
    package var lastTicks: UInt64? { recorded.last?.end }

    /// The events that are under way, outermost first.
    ///
    /// They show the present activity of the thread, and when each part of the activity began. The array contains at most the 16
    /// outermost events. Runs, handlers and sleeps that began before the recording are missing.
    public var eventsUnderWay: [FlightRecorder.Event] {
        open.map { FlightRecorder.Event($0, isOpen: true, reading) }
    }
}

extension RecordedEvent {
    /// A value that identifies the event, and is the same while the event is under way and after it has ended.
    fileprivate var identity: [UInt64] { [start, UInt64(place), UInt64(kind.rawValue), UInt64(depth)] }
}
