/// One event of the flight recorder, in the 24 bytes that an event takes in a ring.
///
/// | word | bits | part |
/// |---|---|---|
/// | 0 | 0–63 | the end, in ticks |
/// | 1 | 0–23 | the number of the place, from ``RecordedPlaces`` |
/// | 1 | 24–63 | the duration in ticks; a longer duration is cut to 2⁴⁰ − 1 |
/// | 2 | 0–31 | the stamp of the message, or one more than the lateness of a timer |
/// | 2 | 32–39 | the kind; 0 for no event |
/// | 2 | 40–47 | the number of slices of the thread that enclose this event |
/// | 2 | 48–63 | a number, whose meaning depends on the kind |
///
/// An event is written when it is over. So a ring that overwrites its oldest events loses whole events, and never only the
/// beginning of an event.
struct RecordedEvent: Hashable, Sendable {
    var end: UInt64
    private var placeAndDuration: UInt64
    private var rest: UInt64

    static let wordCount = 3
    /// The highest place number that fits in an event.
    static let mostPlaces: UInt32 = 1 << 24 - 1
    static let longestDuration: UInt64 = 1 << 40 - 1

    init(
        _ kind: EventKind, end: UInt64, duration: UInt64 = 0, place: UInt32 = 0, stamp: UInt32 = 0,
        depth: Int = 0,
        number: Int = 0
    ) {
        self.end = end
        placeAndDuration =
            UInt64(place & RecordedEvent.mostPlaces) | min(duration, RecordedEvent.longestDuration) << 24
        let number = UInt64(UInt16(clamping: number))
        rest =
            UInt64(stamp) | UInt64(kind.rawValue) << 32 | UInt64(UInt8(clamping: depth)) << 40 | number << 48
    }

    /// Makes an event from three words; nil if the words contain no event.
    init?(_ first: UInt64, _ second: UInt64, _ third: UInt64) {
        guard EventKind(rawValue: UInt8(truncatingIfNeeded: third >> 32)) != nil else { return nil }
        self.init(known: first, second, third)
    }

    /// Makes an event from three words that are known to contain an event.
    init(known first: UInt64, _ second: UInt64, _ third: UInt64) {
        end = first
        placeAndDuration = second
        rest = third
    }

    /// Returns the event to write for a slice that has ended.
    ///
    /// Call this on the event that was stored when the slice began. The `end` of that event is the time at which the slice began,
    /// and its duration is 0.
    ///
    /// - Parameters:
    ///   - ticks: The time at which the slice ended.
    ///   - number: The event's new number; nil to keep the number that the slice began with.
    /// - Returns: The event, with the time at which the slice ended and the duration of the slice.
    func ended(at ticks: UInt64, number: Int?) -> RecordedEvent {
        var event = self
        event.end = ticks
        event.placeAndDuration |= min(ticks &- end, RecordedEvent.longestDuration) << 24
        if let number { event.rest = (rest << 16) >> 16 | UInt64(UInt16(clamping: number)) << 48 }
        return event
    }

    var words: (UInt64, UInt64, UInt64) { (end, placeAndDuration, rest) }

    var place: UInt32 {
        get { UInt32(truncatingIfNeeded: placeAndDuration) & RecordedEvent.mostPlaces }
        set {
            let place = UInt64(newValue & RecordedEvent.mostPlaces)
            placeAndDuration = placeAndDuration & ~UInt64(RecordedEvent.mostPlaces) | place
        }
    }
    var duration: UInt64 { placeAndDuration >> 24 }
    var start: UInt64 { end &- duration }
    var stamp: UInt32 { UInt32(truncatingIfNeeded: rest) }
    var depth: Int { Int(rest >> 40 & 0xff) }
    var number: Int { Int(rest >> 48) }

    var kind: EventKind {
        guard let kind = EventKind(rawValue: UInt8(truncatingIfNeeded: rest >> 32)) else {
            preconditionFailure("an event is made of a kind")
        }
        return kind
    }
}

/// The time at which a message was sent, in the four bytes of a node's stamp.
///
/// The unit is 64 ticks, so the time wraps around after some 100 seconds. 0 means no stamp.
enum MessageStamp {
    static func at(_ ticks: UInt64) -> UInt32 { max(1, UInt32(truncatingIfNeeded: ticks >> 6)) }

    /// Returns the number of ticks from a stamp to a later time.
    static func ticks(from stamp: UInt32, to ticks: UInt64) -> UInt64 { UInt64(at(ticks) &- stamp) << 6 }
}
