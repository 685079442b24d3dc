internal import CRunLoops
internal import Glibc
internal import Synchronization

/// The flight recording of the process, if there is one, and the ring buffers of all threads in that recording.
///
/// > Thread safety: any thread.
enum Recording {
    /// The parameters of a recording.
    struct Session: Sendable {
        /// A number that no other recording of the process has; not 0.
        let generation: UInt32
        let clock: RecorderClock
        let began: RecorderClock.Reading
        /// True if the recording belongs to a simulation and records only the threads of that simulation.
        let isSimulated: Bool
        /// The number of events that a ring holds.
        let capacity: Int
        let mostRings: Int
        let recordsEverything: Bool
        /// The ID of the process that has begun the recording.
        ///
        /// A child that was forked later has another ID.
        let process: pid_t
        /// The number of ticks in a microsecond.
        let microsecond: UInt64
    }

    private struct State {
        var session: Session?
        var lastGeneration: UInt32 = 0
        var rings: [EventRing] = []
        /// The number of rings that can hold events, including rings that are being made.
        var recordedCount = 0
        var nextNumber = 0
        var unrecordedCount = 0
        /// The number of threads that are reading rings.
        var readers = 0
        /// The rings that were removed while a thread was reading rings, and that wait to be destroyed.
        var condemned: [EventRing] = []
    }

    /// The state of the recording.
    ///
    /// A forked child can use the state, because a child without loops can begin its own recording.
    private static let state = ForkSafe(State())

    /// The number of the present recording; 0 without a recording.
    static let generation = Atomic<UInt32>(0)

    // MARK: - Beginning and ending

    /// Begins a recording.
    ///
    /// - Parameters:
    ///   - clock: The clock.
    ///   - microsecond: The number of ticks in a microsecond.
    ///   - capacity: The number of events that the ring of a thread holds, a power of two.
    ///   - mostRings: The maximum number of recorded threads.
    ///   - recordsEverything: True if every handler and every sent message is recorded.
    /// - Returns: The session; nil if there is a recording already.
    static func begin(
        clock: RecorderClock, microsecond: UInt64, capacity: Int, mostRings: Int, recordsEverything: Bool
    ) -> Session? {
        let began = clock.reading()
        let ownAddress = unsafe runloops_thread_events()
        return state.withLock { state -> Session? in
            if let session = state.session {
                if session.process == getpid() { return nil }
                // The recording belongs to the parent. No thread of this child reads or writes its rings.
                for ring in state.rings + state.condemned where unsafe ring.address != ownAddress {
                    ring.destroy()
                }
                state.rings = []
                state.condemned = []
                state.readers = 0
            }
            state.lastGeneration += 1
            let session = Session(
                generation: state.lastGeneration, clock: clock, began: began,
                isSimulated: ThreadDriver.isPresent,
                capacity: capacity, mostRings: mostRings, recordsEverything: recordsEverything,
                process: getpid(), microsecond: microsecond)
            state.session = session
            state.recordedCount = 0
            state.nextNumber = 0
            state.unrecordedCount = 0
            generation.store(session.generation, ordering: .releasing)
            runloops_begin_recording(recordsEverything)
            return session
        }
    }

    /// Ends the recording that has a given number, and frees its memory.
    ///
    /// A thread that is writing an event during the call can still write the event into its ring, but no thread reads the ring any
    /// longer.
    static func end(_ ended: UInt32) {
        state.withLock { state in
            guard let session = state.session, session.generation == ended, session.process == getpid() else {
                return
            }
            state.session = nil
            generation.store(0, ordering: .releasing)
            runloops_end_recording()
            for ring in state.rings {
                if ring.hasEnded { destroy(ring, &state) } else { ring.giveBackEvents() }
            }
            state.rings = []
        }
    }

    /// The present recording.
    static var session: Session? { state.withLock { $0.session } }

    // MARK: - Rings

    /// Makes the ring buffer for the calling thread's events in the present recording.
    ///
    /// The ring cannot hold events if the recording already has its maximum number of threads, or if it does not record this
    /// thread.
    ///
    /// - Returns: The ring; nil if there is no recording.
    @inline(never)
    static func makeRing() -> EventRing? {
        enum Place { case ring, none }
        let plan = state.withLock { state -> (Session, Place, Int)? in
            guard let session = state.session else { return nil }
            if session.isSimulated != ThreadDriver.isPresent { return (session, .none, 0) }
            if state.recordedCount == session.mostRings {
                // The oldest ring whose thread has ended makes room for the new ring.
                guard let oldest = state.rings.firstIndex(where: \.hasEnded) else {
                    state.unrecordedCount += 1
                    return (session, .none, 0)
                }
                destroy(state.rings.remove(at: oldest), &state)
                state.recordedCount -= 1
            }
            state.recordedCount += 1
            state.nextNumber += 1
            return (session, .ring, state.nextNumber - 1)
        }
        guard let (session, place, number) = plan else { return nil }
        // The system's IDs of threads differ between two runs of a simulation.
        let id = session.isSimulated ? Int32(number) : runloops_thread_id()
        let ring = EventRing(
            generation: session.generation, clock: session.clock, microsecond: session.microsecond,
            thread: EventRing.ThreadName(number: number, id: id, name: threadName()),
            capacity: place == .ring ? session.capacity : 0)
        let previous = unsafe runloops_thread_events()
        unsafe runloops_thread_set_events(ring.address)
        state.withLock { state in
            if place == .ring && state.session?.generation == session.generation { state.rings.append(ring) }
            if let previous = unsafe previous { unsafe destroy(EventRing(previous), &state) }
        }
        ThreadEnd.watch(.events) {
            Recording.threadEnds()
            return nil
        }
        return ring
    }

    private static func threadName() -> String {
        if let driver = ThreadDriver.current { return driver.name }
        return unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: 16) { name in
            // Safe: the buffer has 16 bytes, the maximum length of a name.
            guard let start = name.baseAddress else { return "" }
            unsafe runloops_thread_name(start)
            return unsafe String(cString: start)
        }
    }

    /// Ends the use of the calling thread's ring, because the thread ends.
    ///
    /// A ring of the present recording is kept for later readers. A ring of an earlier recording is destroyed.
    private static func threadEnds() {
        guard let known = unsafe runloops_thread_events() else { return }
        runloops_thread_set_events(nil)
        let ring = unsafe EventRing(known)
        state.withLock { state in
            if state.rings.contains(ring) { ring.end() } else { destroy(ring, &state) }
        }
    }

    /// Removes a ring from the recording, and destroys it now, or as soon as no thread reads rings.
    private static func destroy(_ ring: EventRing, _ state: inout State) {
        state.rings.removeAll { $0 == ring }
        if state.readers > 0 { state.condemned.append(ring) } else { ring.destroy() }
    }

    // MARK: - Reading

    /// Calls a closure with the rings of a recording, oldest first.
    ///
    /// No ring is destroyed during the call.
    ///
    /// - Returns: The result of the body; nil if the recording has ended.
    /// - Throws: The error of the body.
    static func read<Result, Failure: Error>(
        _ wanted: UInt32, _ body: (Session, [EventRing], _ unrecorded: Int) throws(Failure) -> Result
    ) throws(Failure) -> Result? {
        let found = state.withLock { state -> (Session, [EventRing], Int)? in
            guard let session = state.session, session.generation == wanted else { return nil }
            state.readers += 1
            return (session, state.rings, state.unrecordedCount)
        }
        guard let (session, rings, unrecorded) = found else { return nil }
        defer {
            state.withLock { state in
                state.readers -= 1
                if state.readers == 0 {
                    for ring in state.condemned { ring.destroy() }
                    state.condemned = []
                }
            }
        }
        return try body(session, rings, unrecorded)
    }
}
