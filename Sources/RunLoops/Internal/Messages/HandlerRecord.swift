internal import Synchronization

/// A record of the handler that a loop is calling now.
///
/// Any thread can read the record, and so detect a handler that does not return. Only the loop's thread writes the record, with
/// plain stores, and only while a watchdog or an inspector watches the loop. The record contains no time, so the loop need not read
/// the clock. A watchdog reads the record several times, and measures the time between its own reads.
struct HandlerRecord: ~Copyable, Sendable {
    /// The reasons to observe the loop's handlers, packed into one integer.
    ///
    /// Bit 0 is set while the timing of handlers is switched on. Bit 32 is set while a flight recorder records the handlers. The
    /// bits between these two contain the number of watchdogs and inspectors.
    private let interest = Atomic<Int>(0)

    /// The bits of the ``Call`` that the loop is making; 0 between calls.
    ///
    /// Each call has its own number, so its bits differ from those of every other call. The loop changes ``file`` and ``nextTimer``
    /// only while ``call`` is 0, and then stores the new ``call``. A reader loads ``call``, then ``file`` and ``nextTimer``, and
    /// then ``call`` again. If both loads of ``call`` return the same bits, everything that the reader has loaded belongs to one
    /// call.
    private let call = Atomic<UInt64>(0)
    /// The address of the name of a source file, as a C string; 0 if there is none.
    ///
    /// This is the file in which the handler was made.
    private let file = Atomic<UInt>(0)
    /// The date of the loop's next timer, as it was when ``call`` was stored.
    private let nextTimer = Atomic<Int64>(Moment.never.nanoseconds)

    /// The number of calls that have been recorded; only the loop's thread uses it.
    private let count = Counter()

    // MARK: - Interest

    private static let timedBit = 1
    private static let recordedBit = 1 << 32

    /// True if the program times the loop's handlers, a watchdog or inspector watches them, or a flight recorder records them.
    @inline(__always)
    var isWanted: Bool { interest.load(ordering: .relaxed) != 0 }

    private var isWatched: Bool { interest.load(ordering: .relaxed) & ~HandlerRecord.recordedBit > 1 }

    /// True if the program times the loop's handlers, or a watchdog or inspector watches them.
    var isTimedOrWatched: Bool { interest.load(ordering: .relaxed) & ~HandlerRecord.recordedBit != 0 }

    /// True if a flight recorder records the loop's handlers.
    var isRecorded: Bool { interest.load(ordering: .relaxed) & HandlerRecord.recordedBit != 0 }

    /// Switches the timing of the loop's handlers on or off.
    func setTimed(_ isTimed: Bool) {
        set(HandlerRecord.timedBit, isTimed)
    }

    /// Records that a flight recorder has started or stopped recording the loop's handlers.
    func setRecorded(_ isRecorded: Bool) { set(HandlerRecord.recordedBit, isRecorded) }

    private func set(_ bit: Int, _ isSet: Bool) {
        if isSet {
            interest.bitwiseOr(bit, ordering: .relaxed)
        } else {
            interest.bitwiseAnd(~bit, ordering: .relaxed)
        }
    }

    /// Adds to the number of watchdogs and inspectors that watch the loop; a negative number subtracts.
    func addWatchers(_ number: Int) { interest.add(2 * number, ordering: .relaxed) }

    // MARK: - Writing

    /// Records that the loop is about to call a handler, if a watchdog or inspector watches the loop.
    ///
    /// - Returns: True if the call was recorded. False if no watchdog or inspector watches the loop, or if an outer
    ///   call is already recorded.
    func begin(_ kind: HandlerKind, _ origin: SourceLocation, nextTimer: Moment) -> Bool {
        guard isWatched, call.load(ordering: .relaxed) == 0 else { return false }
        write(kind, origin.line, origin.address, nextTimer)
        return true
    }

    /// Records that the handler has returned.
    func end() { call.store(0, ordering: .relaxed) }

    /// Removes the recorded call, because its handler now runs the loop.
    ///
    /// A handler that runs the loop does not block it. ``resume(_:nextTimer:)`` records the call again.
    func pause() -> Paused {
        let paused = Paused(
            call: Call(bits: call.load(ordering: .relaxed)), file: file.load(ordering: .relaxed))
        if paused.call.bits != 0 { end() }
        return paused
    }

    /// Records a paused call again, because the run inside its handler has ended.
    ///
    /// For a watchdog, this is a new call, whose time starts at zero.
    func resume(_ paused: Paused, nextTimer: Moment) {
        if paused.call.bits == 0 { return }
        write(paused.call.kind, paused.call.line, paused.file, nextTimer)
    }

    private func write(_ kind: HandlerKind, _ line: UInt32, _ file: UInt, _ nextTimer: Moment) {
        count.add()
        // Both stores come after the store of 0 and before the store of the call. Otherwise the reader's second load of the call
        // would prove nothing.
        self.file.store(file, ordering: .releasing)
        self.nextTimer.store(nextTimer.nanoseconds, ordering: .releasing)
        call.store(Call(kind, line, number: count.value).bits, ordering: .releasing)
    }

    // MARK: - Reading

    /// Returns a copy of the record.
    ///
    /// - Parameter midway: A hook for tests, called between the two loads of ``call``.
    /// - Returns: The copy; nil if the loop is calling no handler, or if ``call`` has changed between the two loads.
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
    /// A call of a handler, packed into 64 bits.
    ///
    /// There are 32 bits for the call's number, 24 for the line on which the handler was made, and 8 for the handler's kind.
    struct Call: Hashable, Sendable {
        let bits: UInt64

        init(bits: UInt64) { self.bits = bits }

        init(_ kind: HandlerKind, _ line: UInt32, number: Int) {
            let number = UInt64(truncatingIfNeeded: number) << 32
            bits = number | UInt64(line & 0xff_ffff) << 8 | UInt64(kind.rawValue)
        }

        var line: UInt32 { UInt32(truncatingIfNeeded: bits >> 8) & 0xff_ffff }

        var kind: HandlerKind {
            guard let kind = HandlerKind(rawValue: UInt8(truncatingIfNeeded: bits)) else {
                preconditionFailure("a call was made of a kind")
            }
            return kind
        }
    }

    /// A call that ``pause()`` has removed from the record, because the called handler runs the loop.
    struct Paused {
        fileprivate let call: Call
        fileprivate let file: UInt
    }

    /// A copy of the record, made by another thread.
    struct Look: Hashable, Sendable {
        let call: Call
        fileprivate let file: UInt
        let nextTimer: Moment

        init(call: Call, file: UInt = 0, nextTimer: Moment = .never) {
            self.call = call
            self.file = file
            self.nextTimer = nextTimer
        }

        /// The file and line at which the handler was made.
        var madeAt: String {
            guard let name = unsafe UnsafePointer<CChar>(bitPattern: file) else { return "an unknown place" }
            // Safe: the name is that of a static string, which ends with a zero and is never freed.
            let file = unsafe String(cString: name)
            return call.line == 0 ? file : "\(file):\(call.line)"
        }
    }
}
