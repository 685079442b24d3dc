// Calls of handlers that the flight recorder records.

extension HandlerCaller {
    /// The maximum number of message handlers that a loop records individually in each time window.
    ///
    /// Recording a handler takes one or two readings of the clock, at most some 40 ns in all. So a loop that is busy with short
    /// handlers spends at most a hundredth of its time on the recorder.
    private static let mostInWindow = 8
    /// The length of a time window, in microseconds; at most ``mostInWindow`` handlers are recorded individually in each window.
    private static let window: UInt64 = 50
    /// The number of times that a loop skips reading the clock after it has found the time window full.
    ///
    /// Otherwise, a busy loop would read the clock in each pass, only to find that the window is not over.
    private static let sparedLooks = 3
    /// The limit, in microseconds, on the total time of a series of handlers that are not recorded individually.
    ///
    /// If the total time is longer, the series is recorded as one event.
    private static let longestGap: UInt64 = 500

    /// Calls a handler, and records the call in the flight recorder.
    ///
    /// In each time window, at most ``mostInWindow`` message handlers are recorded individually. For the other handlers, the loop
    /// measures only the total time. The loop takes this measurement later: when it serves messages again, or before it sleeps. If
    /// the total time is longer than ``longestGap``, the loop records these handlers as one event.
    @inline(never)
    func callRecorded(
        _ origin: SourceLocation, _ kind: HandlerKind, stamp: UInt32, number: Int,
        _ handler: () -> Void
    ) {
        let isObserved = handle.handlers.isTimedOrWatched
        let follows = followsHandler
        followsHandler = false
        guard let ring = Recorder.ring else {
            noted = isObserved ? .all : .allButMessages
            return isObserved ? callWatched(origin, kind, handler) : handler()
        }
        let isMessage = isMessage(kind)
        let isSampled = isMessage && !Recorder.recordsEverything
        if isSampled && ring.own.looksToSpare > 0 {
            ring.own.looksToSpare -= 1
            noted = isObserved ? .all : .allButMessages
            return isObserved ? callWatched(origin, kind, handler) : handler()
        }
        // A recording that has just begun has no earlier reading of the clock.
        let ticks = follows && isMessage && ring.own.lastLook != 0 ? ring.own.lastLook : ring.ticks
        // The count already includes the message that is about to be handled.
        let count = handle.counters.messages - (isMessage ? 1 : 0)
        noteGap(ring, ticks, messages: count)
        if isSampled && !takePlaceInWindow(ring, ticks) {
            ring.own.looksToSpare = HandlerCaller.sparedLooks
            noted = isObserved ? .all : .allButMessages
            ring.own.lastPlace = ring.number(of: origin)
            return isObserved ? callWatched(origin, kind, handler) : handler()
        }
        // This message gets its own event, so it is counted as recorded before its handler is called. Otherwise, if the handler
        // runs the loop, that run would take this message for an unrecorded message.
        ring.own.messagesAtLook = handle.counters.messages
        let slice = Recorder.begin(
            EventKind(kind), in: ring, at: ticks, place: ring.number(of: origin), stamp: stamp, number: number
        )
        if isObserved { callWatched(origin, kind, handler) } else { handler() }
        guard let end = Recorder.end(slice) else { return }
        ring.own.lastLook = end
        ring.own.messagesAtLook = handle.counters.messages
        followsHandler = true
    }

    /// Records in the flight recorder that the loop is about to sleep.
    ///
    /// - Returns: The slice of time that begins now, for ``endSleep(_:_:)``; nil if the thread is not recorded.
    func beginSleep() -> Recorder.Slice? {
        guard let ring = Recorder.ring else { return nil }
        let ticks = ring.ticks
        noteGap(ring, ticks, messages: handle.counters.messages)
        ring.own.looksToSpare = 0
        return Recorder.begin(.sleep, in: ring, at: ticks, place: 0)
    }

    /// Records in the flight recorder that the loop has woken.
    func endSleep(_ sleep: Recorder.Slice?, _ causes: WakeCauses) {
        guard let end = Recorder.end(sleep, number: Int(causes.rawValue)) else { return }
        Recorder.ring?.own.lastLook = end
    }

    @inline(__always)
    private func isMessage(_ kind: HandlerKind) -> Bool {
        switch kind {
        case .block, .job, .port, .delivery: true
        case .timer, .manualSource, .descriptor, .observer, .mainQueue, .deferredWork, .endHandler: false
        }
    }

    /// Records one event for all handlers of messages that were not recorded individually.
    ///
    /// If at most ``longestGap`` has passed since the last reading of the clock, no event is recorded.
    ///
    /// - Parameters:
    ///   - ring: The thread's ring of recorded events.
    ///   - ticks: The present reading of the clock.
    ///   - messages: The number of messages that the loop has served since it was made.
    @inline(__always)
    private func noteGap(_ ring: EventRing, _ ticks: UInt64, messages: Int) {
        let before = ring.own.lastLook
        let unseen = messages - ring.own.messagesAtLook
        ring.own.lastLook = ticks
        ring.own.messagesAtLook = messages
        // `before` is 0 when the thread reads the clock for the first time.
        if unseen > 0 && before != 0 && ticks &- before > HandlerCaller.longestGap * ring.microsecond {
            writeStretch(ring, ticks, before, unseen)
        }
    }

    @inline(never)
    private func writeStretch(_ ring: EventRing, _ ticks: UInt64, _ before: UInt64, _ count: Int) {
        ring.write(
            RecordedEvent(
                .stretch, end: ticks, duration: ticks &- before, place: ring.own.lastPlace, depth: ring.depth,
                number: count))
        // One of these handlers was slow, so the next handlers are recorded one by one.
        ring.own.window = 0
        ring.own.looksToSpare = 0
    }

    /// Counts a message handler toward the limit of the current time window; called before the handler is recorded.
    ///
    /// If the window is over, a new window begins.
    ///
    /// - Returns: False if ``mostInWindow`` handlers were already recorded in the window.
    @inline(__always)
    private func takePlaceInWindow(_ ring: EventRing, _ ticks: UInt64) -> Bool {
        if ticks &- ring.own.window >= HandlerCaller.window * ring.microsecond {
            ring.own.window = ticks
            ring.own.recordedInWindow = 0
        }
        ring.own.recordedInWindow += 1
        return ring.own.recordedInWindow <= HandlerCaller.mostInWindow
    }
}
