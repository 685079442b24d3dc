internal import RunLoops

/// A recording in the form that every export starts from: for each thread, the instants and the properly nested slices.
struct Trace {
    let process: Int32
    let program: String
    /// The time at which the recording began, in nanoseconds.
    let begin: Int64
    /// The time at which the snapshot was taken, in nanoseconds.
    let end: Int64
    let threads: [Lane]

    /// The events of one thread.
    struct Lane {
        let id: Int32
        let name: String
        let hasEnded: Bool
        let lacksEvents: Bool
        /// The slices and instants, in the order in which they began; an outer slice comes before those inside it.
        fileprivate(set) var items: [Item]
    }

    /// An event of a thread: a slice, which has a duration, or an instant, which has none.
    struct Item {
        let event: FlightRecorder.Event
        let start: Int64
        /// The time at which a slice ends; nil for an instant.
        ///
        /// An open slice ends at the time of the snapshot. No slice ends later than the slice around it.
        let end: Int64?
        let isOpen: Bool
        /// The number of slices around this item.
        let depth: Int
        /// A number that connects the posting of a message with its handler; nil unless the recording contains both.
        ///
        /// Both items have the same number. An export draws an arrow between them.
        var flow: UInt64?
        /// True if the item is the posting of a message, and the recording does not contain the message's handler.
        var isFlowOpen = false
    }

    init(_ snapshot: FlightRecorder.Snapshot) {
        process = ProcessFile.processID
        program = ProcessFile.programName
        // The times of a simulation begin at zero, so that they are the same for each run of a seed.
        let epoch = snapshot.isSimulated ? snapshot.start : ContinuousClock().systemEpoch
        let end = (snapshot.end - epoch).wholeNanoseconds
        begin = (snapshot.start - epoch).wholeNanoseconds
        self.end = end
        var threads = snapshot.threads.map { thread in
            Lane(
                id: thread.id, name: thread.name, hasEnded: thread.hasEnded, lacksEvents: thread.lacksEvents,
                items: Lane.items(thread.events, thread.eventsUnderWay, epoch, end))
        }
        Trace.connect(&threads)
        self.threads = threads
    }

    /// Sets `flow` and `isFlowOpen` of all items, so that an export can draw an arrow from each posting to its handlers.
    ///
    /// The posting and the handlers of a message get the same number. The numbers follow the order of the postings in `threads`.
    private static func connect(_ threads: inout [Lane]) {
        let items = threads.flatMap(\.items)
        let handlers = Set(items.filter { $0.end != nil }.compactMap(\.event.flow))
        var numbers: [UInt64: UInt64] = [:]
        for item in items where item.end == nil {
            guard let flow = item.event.flow, handlers.contains(flow), numbers[flow] == nil else { continue }
            numbers[flow] = UInt64(numbers.count + 1)
        }
        for lane in threads.indices {
            for index in threads[lane].items.indices {
                guard let flow = threads[lane].items[index].event.flow else { continue }
                threads[lane].items[index].flow = numbers[flow]
                threads[lane].items[index].isFlowOpen =
                    threads[lane].items[index].end == nil && numbers[flow] == nil
            }
        }
    }
}

extension Trace.Lane {
    /// Sorts events by their beginnings, and nests them.
    ///
    /// The times in a recording are rounded separately, so a slice can seem to end a nanosecond after the slice around it. In that
    /// case the inner slice is shortened.
    fileprivate static func items(
        _ over: [FlightRecorder.Event], _ underWay: [FlightRecorder.Event], _ epoch: ContinuousClock.Instant,
        _ snapshotEnd: Int64
    ) -> [Trace.Item] {
        typealias Dated = (event: FlightRecorder.Event, start: Int64, end: Int64?, isOpen: Bool)
        func dated(_ event: FlightRecorder.Event, isOpen: Bool) -> Dated {
            let start = (event.start - epoch).wholeNanoseconds
            let duration = event.duration?.wholeNanoseconds
            if isOpen { return (event, start, max(start, snapshotEnd), true) }
            return (event, start, event.kind.isInstant ? nil : start + (duration ?? 0), false)
        }
        var all = over.map { dated($0, isOpen: false) } + underWay.map { dated($0, isOpen: true) }
        // Events with the same beginning and the same depth keep the order in which they ended.
        let order = all.enumerated().sorted {
            ($0.element.start, $0.element.event.depth, $0.offset)
                < ($1.element.start, $1.element.event.depth, $1.offset)
        }
        all = order.map(\.element)
        var around: [Int64] = []
        return all.map { event, start, end, isOpen in
            while let last = around.last, last <= start && !(last == start && around.count <= event.depth) {
                around.removeLast()
            }
            guard let end else {
                return Trace.Item(event: event, start: start, end: nil, isOpen: false, depth: around.count)
            }
            let cut = min(end, around.last ?? .max)
            defer { around.append(cut) }
            return Trace.Item(event: event, start: start, end: cut, isOpen: isOpen, depth: around.count)
        }
    }
}

extension FlightRecorder.Event.Kind {
    /// True if the event has no duration.
    var isInstant: Bool {
        switch self {
        case .handler, .handlers, .run, .sleep, .wait, .interval: false
        case .post, .fullPort, .mark, .notification, .drop, .connection: true
        }
    }

    /// The name of the kind, for use as the event's category in an export.
    var word: String {
        switch self {
        case .handler(let kind): kind.description
        case .handlers: "stretch"
        case .run: "run"
        case .sleep: "sleep"
        case .post: "post"
        case .fullPort: "full port"
        case .wait: "wait"
        case .mark: "mark"
        case .interval: "interval"
        case .notification: "post of a notification"
        case .drop: "drop"
        case .connection: "connection"
        }
    }
}

extension FlightRecorder.Event {
    /// The name of the event in an export.
    var title: String {
        switch kind {
        case .handler(let kind): place.contains(":") ? "\(kind) \(place)" : place
        case .handlers(let count): "\(count) handlers, one of them \(place)"
        case .run: place == RunLoop.Mode.default.rawValue ? "run in the default mode" : "run in \(place)"
        case .sleep: "sleep"
        case .post(let count): count == 1 ? "post \(place)" : "post of \(count) \(place)"
        case .fullPort: "full port \(place)"
        case .wait: "wait \(place)"
        case .mark, .interval: place
        case .notification(let observers): "notification \(place) to \(observers)"
        case .drop(let count): "drop of \(count) \(place)"
        case .connection(let began): "\(began ? "connection" : "end of a connection") \(place)"
        }
    }

    /// Further values of the event, in the order in which an export shows them.
    ///
    /// Times are in nanoseconds.
    fileprivate var particulars: [(name: String, value: Trace.Particular)] {
        var all: [(String, Trace.Particular)] = []
        if let wait { all.append(("waited_ns", .number(wait.wholeNanoseconds))) }
        if let lateness { all.append(("late_ns", .number(lateness.wholeNanoseconds))) }
        if let waitingMessages { all.append(("waiting_messages", .number(Int64(waitingMessages)))) }
        switch kind {
        case .sleep(let reasons): all.append(("ended_by", .text(reasons.words)))
        case .run(let result): if let result { all.append(("result", .text("\(result)"))) }
        case .wait(let isRefused): if isRefused { all.append(("refused", .text("it would deadlock"))) }
        default: break
        }
        return all
    }
}

extension Trace {
    /// A named value that an export shows beside an event.
    enum Particular {
        case number(Int64)
        case text(String)
    }
}

extension Trace.Item {
    /// Further values of the item, in the order in which an export shows them.
    ///
    /// Times are in nanoseconds.
    var particulars: [(name: String, value: Trace.Particular)] {
        var all = event.particulars
        if isOpen { all.append(("state", .text("under way"))) }
        if isFlowOpen { all.append(("message", .text("not handled, or not recorded"))) }
        return all
    }
}

extension FlightRecorder.Event.WakeReasons {
    var words: String {
        var words: [String] = []
        if contains(.messages) { words.append("messages") }
        if contains(.descriptor) { words.append("descriptor") }
        if contains(.timer) { words.append("timer") }
        return words.isEmpty ? "deadline" : words.joined(separator: ", ")
    }
}
