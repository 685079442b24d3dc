internal import CThreads
internal import Synchronization

/// Where a loop writes down which handler it is calling, so that another thread can see that one does not return.
///
/// Written by the loop's thread, with plain stores and only while somebody watches; read by any thread. The clock is not
/// read: whoever watches looks twice.
struct HandlerRecord: ~Copyable, Sendable {
    /// Who wants to know of handlers: whether they are timed, and twice the number of those who watch.
    private let interest = Atomic<Int>(0)

    /// The call that is going on, as the bits of a ``Call``, or 0.
    ///
    /// Its number makes it differ from every other one. What belongs to it is stored before it, and only while this is 0.
    /// So who finds it unchanged after having read the rest, has read what belongs together.
    private let call = Atomic<UInt64>(0)
    /// The first byte of the name of the file in which the handler was made, or 0.
    private let file = Atomic<UInt>(0)
    /// When the next timer was due, as far as the loop knew when the call began.
    private let nextTimer = Atomic<Int64>(Moment.never.nanoseconds)

    /// How many calls were written down; the loop's thread only.
    private let count = Counter()
    /// The system's number of the loop's thread; 0 as long as no call was written down.
    let thread = Atomic<Int32>(0)

    // MARK: - Whether

    /// Whether somebody wants to know of handlers.
    @inline(__always)
    var isWanted: Bool { interest.load(ordering: .relaxed) != 0 }

    private var isWatched: Bool { interest.load(ordering: .relaxed) > 1 }

    /// The loop's thread times its handlers from now on, or does no more.
    func setTimed(_ isTimed: Bool) {
        if isTimed {
            interest.bitwiseOr(1, ordering: .relaxed)
        } else {
            interest.bitwiseAnd(~1, ordering: .relaxed)
        }
    }

    /// So many more watch; fewer, if it is negative.
    func addWatchers(_ number: Int) { interest.add(2 * number, ordering: .relaxed) }

    // MARK: - Writing

    /// A handler is about to be called.
    ///
    /// - Returns: False if nobody watches, or if the call is part of one that is written down.
    func begin(_ kind: RunLoop.HandlerKind, _ origin: SourceLocation, nextTimer: Moment) -> Bool {
        guard isWatched, call.load(ordering: .relaxed) == 0 else { return false }
        if thread.load(ordering: .relaxed) == 0 { thread.store(runloops_thread_id(), ordering: .relaxed) }
        write(kind, origin.line, origin.address, nextTimer)
        return true
    }

    /// It has returned.
    func end() { call.store(0, ordering: .relaxed) }

    /// The handler that was written down runs the loop: that is not one that keeps the loop from its work.
    func pause() -> Paused {
        let paused = Paused(
            call: Call(bits: call.load(ordering: .relaxed)), file: file.load(ordering: .relaxed))
        if paused.call.bits != 0 { end() }
        return paused
    }

    /// Its run has returned: it goes on, and begins anew to be late.
    func resume(_ paused: Paused, nextTimer: Moment) {
        if paused.call.bits == 0 { return }
        write(paused.call.kind, paused.call.line, paused.file, nextTimer)
    }

    private func write(_ kind: RunLoop.HandlerKind, _ line: UInt32, _ file: UInt, _ nextTimer: Moment) {
        count.add()
        // Each after the 0, and before the call: that order is what makes the reader's second look at the call worth it.
        self.file.store(file, ordering: .releasing)
        self.nextTimer.store(nextTimer.nanoseconds, ordering: .releasing)
        call.store(Call(kind, line, number: count.value).bits, ordering: .releasing)
    }

    // MARK: - Reading

    /// What is going on.
    ///
    /// - Parameter midway: What a test does between the two looks at the call.
    /// - Returns: Nil if no call is, or another one has just begun.
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
    /// A call, in one word: 32 bits of its number, 24 of the line, 8 of the kind.
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

    /// A call that is interrupted by a run inside it.
    struct Paused {
        fileprivate let call: Call
        fileprivate let file: UInt
    }

    /// A call as another thread sees it.
    struct Look: Hashable, Sendable {
        let call: Call
        fileprivate let file: UInt
        let nextTimer: Moment

        init(call: Call, file: UInt = 0, nextTimer: Moment = .never) {
            self.call = call
            self.file = file
            self.nextTimer = nextTimer
        }

        /// Where the handler was made.
        var madeAt: String {
            guard let name = unsafe UnsafePointer<CChar>(bitPattern: file) else { return "an unknown place" }
            // Safe: the name is that of a static string, which ends with a zero and is never freed.
            let file = unsafe String(cString: name)
            return call.line == 0 ? file : "\(file):\(call.line)"
        }
    }
}

extension SourceLocation {
    /// The first byte of the file's name; 0 if it is no string in memory but a character.
    fileprivate var address: UInt {
        // Safe: the address is only kept.
        fileID.hasPointerRepresentation ? unsafe UInt(bitPattern: fileID.utf8Start) : 0
    }
}
