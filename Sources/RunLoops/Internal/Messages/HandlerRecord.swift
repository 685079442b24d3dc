internal import Synchronization

/// A record of the handler that a loop is calling, from which another thread can detect a handler that does not return.
///
/// The loop's thread writes the record, with plain stores, and only while a watchdog watches. Any thread can read it. The loop does
/// not read the clock for the record, because a watchdog measures the time between two readings of the record.
struct HandlerRecord: ~Copyable, Sendable {
    /// The interest in handlers: bit 0 is set while handlers are timed, bit 32 while a flight recorder records, and the bits
    /// between these are the number of watchdogs.
    private let interest = Atomic<Int>(0)

    /// The bits of the ``Call`` that is under way, or 0.
    ///
    /// The bits contain the call's number, so they differ from the bits of every other call. The loop stores the other members
    /// before this word, and only while this word is 0. So if a reader reads the other members and then finds this word unchanged,
    /// all members that it has read belong to one call.
    private let call = Atomic<UInt64>(0)
    /// The address of the name of the file in which the handler was made, or 0.
    private let file = Atomic<UInt>(0)
    /// The date of the next timer, as of the beginning of the call.
    private let nextTimer = Atomic<Int64>(Moment.never.nanoseconds)

    /// The number of recorded calls; for the loop's thread only.
    private let count = Counter()

    // MARK: - Interest

    private static let timedBit = 1
    private static let recordedBit = 1 << 32

    /// True if handlers are timed, watched or recorded.
    @inline(__always)
    var isWanted: Bool { interest.load(ordering: .relaxed) != 0 }

    private var isWatched: Bool { interest.load(ordering: .relaxed) & ~HandlerRecord.recordedBit > 1 }

    /// True if handlers are timed or watched.
    var isTimedOrWatched: Bool { interest.load(ordering: .relaxed) & ~HandlerRecord.recordedBit != 0 }

    /// True if a flight recorder records handlers.
    var isRecorded: Bool { interest.load(ordering: .relaxed) & HandlerRecord.recordedBit != 0 }

    /// Begins or ends the timing of handlers.
    func setTimed(_ isTimed: Bool) {
        set(HandlerRecord.timedBit, isTimed)
    }

    /// Begins or ends the recording of handlers.
    func setRecorded(_ isRecorded: Bool) { set(HandlerRecord.recordedBit, isRecorded) }

    private func set(_ bit: Int, _ isSet: Bool) {
        if isSet {
            interest.bitwiseOr(bit, ordering: .relaxed)
        } else {
            interest.bitwiseAnd(~bit, ordering: .relaxed)
        }
    }

    /// Adds to the number of watchdogs; a negative number subtracts.
    func addWatchers(_ number: Int) { interest.add(2 * number, ordering: .relaxed) }

    // MARK: - Writing

    /// Records a call that is about to begin.
    ///
    /// - Returns: False if no watchdog watches, or if the call is inside a call that is already recorded.
    func begin(_ kind: RunLoop.HandlerKind, _ origin: SourceLocation, nextTimer: Moment) -> Bool {
        guard isWatched, call.load(ordering: .relaxed) == 0 else { return false }
        write(kind, origin.line, origin.address, nextTimer)
        return true
    }

    /// Records that the call has returned.
    func end() { call.store(0, ordering: .relaxed) }

    /// Removes the call from the record while its handler runs the loop, because such a handler does not block the loop.
    func pause() -> Paused {
        let paused = Paused(
            call: Call(bits: call.load(ordering: .relaxed)), file: file.load(ordering: .relaxed))
        if paused.call.bits != 0 { end() }
        return paused
    }

    /// Records the call again after the run inside the call.
    ///
    /// The time of the call starts again from zero.
    func resume(_ paused: Paused, nextTimer: Moment) {
        if paused.call.bits == 0 { return }
        write(paused.call.kind, paused.call.line, paused.file, nextTimer)
    }

    private func write(_ kind: RunLoop.HandlerKind, _ line: UInt32, _ file: UInt, _ nextTimer: Moment) {
        count.add()
        // Both stores come after the store of 0 and before the store of the call. Otherwise the reader's second load of the call
        // would prove nothing.
        self.file.store(file, ordering: .releasing)
        self.nextTimer.store(nextTimer.nanoseconds, ordering: .releasing)
        call.store(Call(kind, line, number: count.value).bits, ordering: .releasing)
    }

    // MARK: - Reading

    /// Reads the call that is under way.
    ///
    /// - Parameter midway: A hook for tests, called between the two loads of the call.
    /// - Returns: Nil if no call is under way, or another call has just begun.
    func look(midway: () -> Void = {}) -> Look? {
        let call = Call(bits: call.load(ordering: .acquiring))
        if call.bits == 0 { return nil }
        midway()
        let file = file.load(ordering: .acquiring)
        let nextTimer = Moment(nanoseconds: nextTimer.load(ordering: .acquiring))
        guard self.call.load(ordering: .relaxed) == call.bits else { return nil }
        return Look(call: call, file: file, nextTimer: nextTimer)
    }
}

extension HandlerRecord {
    /// A call, in one word: 32 bits for its number, 24 for the line, 8 for the kind.
    struct Call: Hashable, Sendable {
        let bits: UInt64

        init(bits: UInt64) { self.bits = bits }

        init(_ kind: RunLoop.HandlerKind, _ line: UInt32, number: Int) {
            let number = UInt64(truncatingIfNeeded: number) << 32
            bits = number | UInt64(line & 0xff_ffff) << 8 | UInt64(kind.rawValue)
        }

        var line: UInt32 { UInt32(truncatingIfNeeded: bits >> 8) & 0xff_ffff }

        var kind: RunLoop.HandlerKind {
            guard let kind = RunLoop.HandlerKind(rawValue: UInt8(truncatingIfNeeded: bits)) else {
                preconditionFailure("a call was made of a kind")
            }
            return kind
        }
    }

    /// A call that was paused for a run inside it.
    struct Paused {
        fileprivate let call: Call
        fileprivate let file: UInt
    }

    /// A call as another thread reads it.
    struct Look: Hashable, Sendable {
        let call: Call
        fileprivate let file: UInt
        let nextTimer: Moment

        init(call: Call, file: UInt = 0, nextTimer: Moment = .never) {
            self.call = call
            self.file = file
            self.nextTimer = nextTimer
        }

        /// The place where the handler was made.
        var madeAt: String {
            guard let name = unsafe UnsafePointer<CChar>(bitPattern: file) else { return "an unknown place" }
            // Safe: the name is that of a static string, which ends with a zero and is never freed.
            let file = unsafe String(cString: name)
            return call.line == 0 ? file : "\(file):\(call.line)"
        }
    }
}
