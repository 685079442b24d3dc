internal import CRunLoops
internal import Glibc
internal import Synchronization

/// The ring buffer into which one thread writes its events for the flight recorder.
///
/// The ring also contains the thread's *slices* that are under way. A slice is an activity that has a beginning and an end, such as
/// a call of a handler. When the slice ends, it is written as an event.
///
/// Only that thread writes to the ring. Any thread can copy the events without stopping the writer. `head` is the total number of
/// events that have been written: the writer stores it after each event. `reserved` is an upper bound for that number: the writer
/// raises it before it writes events up to the new bound. A reader first copies the events, and then loads `reserved`. From that
/// bound, the reader computes which events can have been overwritten during the copy, and drops them.
///
/// `@safe`: the memory exists until ``destroy()``. ``Recording`` calls it under the lock that also guards the number of readers,
/// and only for rings that no thread writes any longer.
@safe
struct EventRing: Equatable, @unchecked Sendable {
    private let storage: UnsafeMutablePointer<Storage>

    /// The maximum number of nested slices that other threads can read while the slices are under way.
    ///
    /// Slices that are nested deeper are recorded only when they end.
    static let deepest = 16
    /// The number by which the writer raises `reserved` with one store, before it writes that many events.
    private static let announced: UInt64 = 64

    @safe private struct Storage: ~Copyable {
        let generation: UInt32
        let clock: RecorderClock
        let microsecond: UInt64
        let thread: ThreadName
        /// The memory of the events, as words; nil if this thread is not recorded.
        let words: UnsafeMutablePointer<Atomic<UInt64>>?
        let mask: UInt64
        let reserved = Atomic<UInt64>(0)
        let head = Atomic<UInt64>(0)
        let open = OpenSlices()
        /// True after the thread has ended.
        let hasEnded = Atomic(false)
        /// The state that only the thread itself uses.
        var own = Own()
    }

    /// The state that only the writing thread uses.
    struct Own {
        /// The time, in ticks, at which the present window began.
        ///
        /// A window is a period in which the loop records a limited number of message handlers.
        var window: UInt64 = 0
        /// The number of message handlers that were counted in the present window.
        var recordedInWindow = 0
        /// The number of message handlers that the loop will still call without reading the clock.
        ///
        /// It is set to 0 before the loop sleeps, and after slow handlers.
        var looksToSpare = 0
        /// The time, in ticks, at which the clock was last read for the beginning or the end of a handler or a sleep.
        var lastLook: UInt64 = 0
        /// The number of messages that the loop had handled at the time of `lastLook`.
        var messagesAtLook = 0
        /// The number that stands for the source location of a message handler.
        ///
        /// This is the last message handler for which the loop read the clock, but recorded no event.
        var lastPlace: UInt32 = 0
        /// The time, in ticks, at which the thread last sent a message with a time stamp.
        var lastPost: UInt64 = 0
        /// The time, in ticks, at which the thread last recorded a notification.
        var lastNotification: UInt64 = 0
        var places = PlaceCache()
    }

    /// The number, the ID and the name of a thread.
    struct ThreadName: Hashable, Sendable {
        /// The number of the thread in its recording, from 0.
        let number: Int
        /// The system's ID of the thread.
        let id: Int32
        let name: String
    }

    /// Makes a ring for the calling thread.
    ///
    /// - Parameters:
    ///   - generation: The number of the recording.
    ///   - clock: The clock of the recording.
    ///   - microsecond: The number of ticks in a microsecond.
    ///   - thread: The number, the ID and the name of the thread.
    ///   - capacity: The number of events, a power of two; 0 for a thread that is not recorded.
    init(generation: UInt32, clock: RecorderClock, microsecond: UInt64, thread: ThreadName, capacity: Int) {
        unsafe storage = .allocate(capacity: 1)
        // Safe: zero is a valid value of the atomics. The system provides the pages when they are first written.
        let words = capacity == 0 ? nil : unsafe EventRing.map(bytes: EventRing.bytes(capacity))
        unsafe storage.initialize(
            to: Storage(
                generation: generation, clock: clock, microsecond: microsecond, thread: thread,
                words: words?.assumingMemoryBound(to: Atomic<UInt64>.self),
                mask: words == nil ? 0 : UInt64(capacity - 1)))
    }

    init(_ known: UnsafeMutableRawPointer) { unsafe storage = known.assumingMemoryBound(to: Storage.self) }

    static func == (left: EventRing, right: EventRing) -> Bool { unsafe left.storage == right.storage }

    var address: UnsafeMutableRawPointer { unsafe UnsafeMutableRawPointer(storage) }

    static func bytes(_ capacity: Int) -> Int { capacity * RecordedEvent.wordCount * 8 }

    @unsafe
    private static func map(bytes: Int) -> UnsafeMutableRawPointer? {
        let memory = unsafe mmap(nil, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
        return unsafe memory == MAP_FAILED ? nil : memory
    }

    /// Frees the ring.
    ///
    /// The caller ensures that no thread writes or reads it any longer.
    func destroy() {
        // Safe: `init` has mapped this many bytes.
        if let words = unsafe storage.pointee.words { unsafe munmap(words, EventRing.bytes(capacity)) }
        unsafe storage.deinitialize(count: 1)
        unsafe storage.deallocate()
    }

    /// Returns the memory of the events to the system.
    ///
    /// The thread can still write during the call. After the call, the memory reads as zero, which represents no event.
    func giveBackEvents() {
        if let words = unsafe storage.pointee.words {
            unsafe madvise(words, EventRing.bytes(capacity), MADV_DONTNEED)
        }
    }

    var generation: UInt32 { unsafe storage.pointee.generation }
    var thread: ThreadName { unsafe storage.pointee.thread }
    var isRecorded: Bool { unsafe storage.pointee.words != nil }
    var capacity: Int { unsafe Int(storage.pointee.mask) + 1 }
    var clock: RecorderClock { unsafe storage.pointee.clock }
    /// The number of ticks in a microsecond.
    var microsecond: UInt64 { unsafe storage.pointee.microsecond }
    var hasEnded: Bool { unsafe storage.pointee.hasEnded.load(ordering: .acquiring) }

    // MARK: - The thread's side

    var ticks: UInt64 {
        @inline(__always) get { clock.ticks }
    }

    var own: Own {
        // These accessors return addresses, because coroutines allocate memory in unoptimised builds.
        @inline(__always) unsafeAddress { unsafe UnsafePointer(ownPointer) }
        @inline(__always) nonmutating unsafeMutableAddress { unsafe ownPointer }
    }

    // Safe: only the thread itself uses this pointer.
    private var ownPointer: UnsafeMutablePointer<Own> {
        @inline(__always) get { unsafe withUnsafeMutablePointer(to: &storage.pointee.own) { unsafe $0 } }
    }

    /// Returns the number that stands for a source location in the events.
    @inline(__always)
    func number(of place: SourceLocation) -> UInt32 { unsafe storage.pointee.own.places.number(of: place) }

    /// Writes an event into the ring, over the oldest event if the ring is full.
    func write(_ event: RecordedEvent) {
        // Safe: only this thread writes, and the index is below the capacity.
        guard let words = unsafe storage.pointee.words else { return }
        let head = unsafe storage.pointee.head.load(ordering: .relaxed)
        if head % EventRing.announced == 0 {
            unsafe storage.pointee.reserved.store(head + EventRing.announced, ordering: .relaxed)
            // `reserved` is stored before the events, so that a reader that has copied one of the events finds the new value.
            atomicMemoryFence(ordering: .releasing)
        }
        let place = unsafe words + Int(head & storage.pointee.mask) * RecordedEvent.wordCount
        let (first, second, third) = event.words
        unsafe place[0].store(first, ordering: .relaxed)
        unsafe place[1].store(second, ordering: .relaxed)
        unsafe place[2].store(third, ordering: .relaxed)
        unsafe storage.pointee.head.store(head + 1, ordering: .releasing)
        // After a copy, the ring's cache lines are also in the cache of the reader. The next lines are fetched ahead, so that the
        // thread does not wait for them.
        let ahead = unsafe Int((head + 8) & storage.pointee.mask) * RecordedEvent.wordCount
        unsafe runloops_prefetch_for_write(words + ahead)
    }

    /// Begins a slice.
    ///
    /// While the slice is under way, the `end` of its event contains the time at which the slice began.
    func open(_ slice: RecordedEvent) { unsafe storage.pointee.open.push(slice) }

    /// The innermost slice that is under way; nil if there is none, or if that slice is nested too deep.
    var innermost: RecordedEvent? { unsafe storage.pointee.open.innermost }

    /// Changes the place of the innermost slice that is under way.
    ///
    /// - Parameter place: The number of the new place.
    func renameInnermost(_ place: UInt32) { unsafe storage.pointee.open.renameInnermost(place) }

    /// Removes the innermost slice, because it has ended.
    func close() { unsafe storage.pointee.open.pop() }

    /// The number of the thread's slices that are under way.
    var depth: Int { unsafe storage.pointee.open.count }

    func end() { unsafe storage.pointee.hasEnded.store(true, ordering: .releasing) }

    // MARK: - A reader's side

    /// Copies the complete events, oldest first.
    ///
    /// - Parameter midway: A hook for tests, called after the copy, before the events that were overwritten are dropped.
    /// - Returns: The events, and true if older events were overwritten.
    func copyEvents(midway: () -> Void = {}) -> (events: [RecordedEvent], lostOlder: Bool) {
        guard let words = unsafe storage.pointee.words else { return ([], false) }
        let capacity = UInt64(self.capacity)
        let head = unsafe storage.pointee.head.load(ordering: .acquiring)
        let first = head > capacity ? head - capacity : 0
        var copied: [(UInt64, RecordedEvent)] = []
        copied.reserveCapacity(Int(head - first))
        for index in first..<head {
            // Safe: the index is below the capacity, and the words are atomic.
            let place = unsafe words + Int(index & storage.pointee.mask) * RecordedEvent.wordCount
            let event = unsafe RecordedEvent(
                place[0].load(ordering: .relaxed), place[1].load(ordering: .relaxed),
                place[2].load(ordering: .relaxed))
            if let event { copied.append((index, event)) }
        }
        midway()
        // The copies come before the load of `reserved`. So if the writer has overwritten an event while that event was being
        // copied, the load finds the announcement of the event that has replaced it.
        atomicMemoryFence(ordering: .acquiring)
        let reserved = unsafe storage.pointee.reserved.load(ordering: .relaxed)
        let whole = reserved > capacity ? reserved - capacity : 0
        return (copied.lazy.filter { $0.0 >= whole }.map(\.1), max(first, whole) > 0)
    }

    /// Returns the thread's slices that are under way, outermost first.
    func copyOpen() -> [RecordedEvent] { unsafe storage.pointee.open.copy() }
}

/// A cache of the numbers that stand for source locations in events.
///
/// It contains some of the locations that one thread has recorded recently.
struct PlaceCache {
    private var entries = [(address: UInt, line: UInt32, number: UInt32)](repeating: (0, 0, 0), count: 64)

    @inline(__always)
    mutating func number(of place: SourceLocation) -> UInt32 {
        let address = place.address
        let index = Int((address >> 4 ^ UInt(place.line)) & 63)
        let known = entries[index]
        if known.address == address && known.line == place.line && address != 0 { return known.number }
        return look(place, index)
    }

    @inline(never)
    private mutating func look(_ place: SourceLocation, _ index: Int) -> UInt32 {
        let number = RecordedPlaces.number(of: RecordedPlaces.Place(place))
        entries[index] = (place.address, place.line, number)
        return number
    }
}
