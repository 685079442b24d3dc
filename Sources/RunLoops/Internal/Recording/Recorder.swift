internal import CRunLoops
internal import Synchronization

/// The functions with which the other parts of the package report events to the flight recorder.
///
/// Every member can be called at any time, and does nothing without a recording. The functions that send and receive messages call
/// a member only if ``mayRecord`` is true. To read that property costs one load of a byte. The same load also checks for a forked
/// child.
///
/// > Thread safety: any thread; an event belongs to the calling thread.
package enum Recorder {
    /// True if there is a recording, or the process is a forked child.
    @inline(__always)
    static var mayRecord: Bool { runloops_process_flags() != 0 }

    /// True if there is a recording.
    @inline(__always)
    package static var isOn: Bool { runloops_records() }

    /// True if every handler and every sent message is recorded.
    @inline(__always)
    static var recordsEverything: Bool { runloops_records_everything() }

    /// The calling thread's ring; nil if the thread is not recorded.
    @inline(__always)
    static var ring: EventRing? {
        guard isOn else { return nil }
        // Safe: this is the thread's own ring, which only the thread destroys.
        if let known = unsafe runloops_thread_events() {
            let ring = unsafe EventRing(known)
            if ring.generation == Recording.generation.load(ordering: .relaxed) {
                return ring.isRecorded ? ring : nil
            }
        }
        guard let ring = Recording.makeRing(), ring.isRecorded else { return nil }
        return ring
    }

    // MARK: - Slices

    /// An activity that the calling thread has begun and not ended, such as a call of a handler.
    struct Slice {
        fileprivate let generation: UInt32
        fileprivate let event: RecordedEvent
    }

    /// Records the beginning of an activity at a source location.
    ///
    /// - Returns: The slice that represents the activity, for ``end(_:number:)``; nil without a recording.
    static func begin(_ kind: EventKind, _ place: SourceLocation) -> Slice? {
        guard let ring else { return nil }
        return begin(kind, in: ring, at: ring.ticks, place: ring.number(of: place))
    }

    /// Records the beginning of an activity whose place is the given text, such as the name of a mode.
    static func begin(_ kind: EventKind, _ text: @autoclosure () -> String) -> Slice? {
        guard let ring else { return nil }
        return begin(kind, in: ring, at: ring.ticks, place: RecordedPlaces.number(of: .text(text())))
    }

    @inline(__always)
    static func begin(
        _ kind: EventKind, in ring: EventRing, at ticks: UInt64, place: UInt32, stamp: UInt32 = 0,
        number: Int = 0
    ) -> Slice {
        let event = RecordedEvent(
            kind, end: ticks, place: place, stamp: stamp, depth: ring.depth, number: number)
        ring.open(event)
        return Slice(generation: ring.generation, event: event)
    }

    /// Ends a slice, and writes an event for it.
    ///
    /// If the recording in which the slice began has ended, this does nothing.
    ///
    /// - Parameters:
    ///   - slice: The slice; nil for no slice.
    ///   - number: The event's new number; nil to keep the number that the slice began with.
    /// - Returns: The time of the end, in ticks; nil if no event was written.
    @discardableResult
    static func end(_ slice: Slice?, number: Int? = nil) -> UInt64? {
        guard let slice, let ring, ring.generation == slice.generation else { return nil }
        // The innermost slice is this slice, perhaps with a new place.
        return end(ring.innermost ?? slice.event, in: ring, number)
    }

    /// Ends the innermost slice and writes it as an event, but only if the slice has the given kind.
    ///
    /// This is for a caller that has no place to store the slice during the activity.
    static func endInnermost(_ kind: EventKind, number: Int? = nil) {
        guard let ring, let begun = ring.innermost, begun.kind == kind else { return }
        end(begun, in: ring, number)
    }

    @discardableResult
    private static func end(_ begun: RecordedEvent, in ring: EventRing, _ number: Int?) -> UInt64 {
        ring.close()
        let ticks = ring.ticks
        ring.write(begun.ended(at: ticks, number: number))
        return ticks
    }

    /// Returns the time that has passed since `due`, in units of ``MessageStamp``, clamped to four bytes.
    ///
    /// One is added, because 0 stands for a call without a date. The result is also 0 if there is no recording.
    static func lateness(_ due: Moment) -> UInt32 {
        guard let ring else { return 0 }
        let (late, overflow) = Moment.now().nanoseconds.subtractingReportingOverflow(due.nanoseconds)
        // The subtraction overflows for a very old date.
        let microseconds = overflow ? .max : UInt64(max(0, late)) / 1_000
        let (ticks, isLong) = microseconds.multipliedReportingOverflow(by: ring.microsecond)
        return isLong ? .max : UInt32(clamping: (ticks >> 6) + 1)
    }

    /// Records an event without duration.
    static func note(_ kind: EventKind, _ place: @autoclosure () -> RecordedPlaces.Place, number: Int = 0) {
        guard let ring else { return }
        ring.write(
            RecordedEvent(
                kind, end: ring.ticks, place: RecordedPlaces.number(of: place()), depth: ring.depth,
                number: number))
    }
}
