internal import CThreads
internal import Glibc
internal import RunLoops
internal import Synchronization

/// Where a thread shows the others which observations it calls.
///
/// A call costs its thread two plain stores and no atomic exchange: it shows the observation, looks whether that was removed,
/// calls, shows nothing and looks again. Whoever removes pays for it: it marks the observation, makes every thread pass a
/// fence, and reads what all of them show. Either it sees the call, or the call has seen the mark.
///
/// Records are handed from thread to thread and never freed, so that they can be read at any time: there are as many as
/// threads have posted at once.
///
/// > Thread safety: ``isShown(_:)`` and ``waitForReaders()`` from any thread; the rest by the record's own.
///
/// `@safe`: the pointer is always to a record, which lives for ever.
@safe
struct CallRecord {
    /// How many calls a record can show: one inside the other.
    ///
    /// A thread that goes deeper takes one more record.
    static var capacity: Int { 6 }

    private let storage: UnsafeMutablePointer<Storage>

    /// Alone on its cache lines.
    private struct Storage: ~Copyable {
        /// The observations that are called, outermost first; 0 for none.
        ///
        /// The first property, so that it lies where the record does: ``withPlace(_:)`` counts from there.
        let shown = InlineArray<6, Atomic<UInt>> { _ in Atomic(0) }
        /// Odd while the thread looks something up.
        let lookups = Atomic<UInt>(0)
        /// Whether a thread has it.
        let isTaken = Atomic<Bool>(true)

        /// How many of `shown` are in use; the thread's own.
        var depth = 0
        /// The record that the thread has filled before this one; the thread's own.
        var outer: CallRecord?
        /// The record that was made before this one; never changed.
        let older: CallRecord?

        init(older: CallRecord?) { self.older = older }
    }

    private init(_ storage: UnsafeMutablePointer<Storage>) { unsafe self.storage = storage }

    // MARK: - The thread's own

    /// The calling thread's record.
    @inline(__always)
    static var current: CallRecord {
        // Safe: the thread's own pointer, put there by `take`.
        if let known = unsafe runloops_thread_calls() {
            return unsafe CallRecord(known.assumingMemoryBound(to: Storage.self))
        }
        return take(outer: nil)
    }

    /// Gives the body a place to show calls in, one after the other.
    @inline(__always)
    func withPlace<Result>(_ body: (borrowing Place) -> Result) -> Result {
        let depth = unsafe storage.pointee.depth
        if depth == CallRecord.capacity { return withInnerPlace(body) }
        unsafe storage.pointee.depth = depth + 1
        defer { unsafe storage.pointee.depth = depth }
        // Safe: less than the capacity, the record begins with what is shown, and outlives the call.
        return unsafe body(
            Place(UnsafeRawPointer(storage).assumingMemoryBound(to: Atomic<UInt>.self) + depth))
    }

    @inline(never)
    private func withInnerPlace<Result>(_ body: (borrowing Place) -> Result) -> Result {
        let inner = CallRecord.take(outer: self)
        defer {
            unsafe runloops_thread_set_calls(storage)
            inner.giveBack()
        }
        return inner.withPlace(body)
    }

    /// Looks something up that other threads may replace at any time.
    ///
    /// What was replaced lives until the body has returned.
    ///
    /// - Parameter body: Short: it calls nothing of the user's, and takes no lock.
    /// - Returns: What the body returns.
    @inline(__always)
    func lookUp<Result>(_ body: () -> Result) -> Result {
        let before = unsafe storage.pointee.lookups.load(ordering: .relaxed)
        unsafe storage.pointee.lookups.store(before &+ 1, ordering: .releasing)
        runloops_light_fence()
        defer { unsafe storage.pointee.lookups.store(before &+ 2, ordering: .releasing) }
        return body()
    }

    /// Whether the calling thread calls an observation.
    static func currentShows(_ observation: Observation) -> Bool {
        callsHere.contains(UInt(bitPattern: ObjectIdentifier(observation)))
    }

    /// The observations that the calling thread calls.
    private static var callsHere: [UInt] {
        var calls: [UInt] = []
        // Safe: the thread's own pointer, put there by `take`.
        var next = unsafe runloops_thread_calls().map {
            unsafe CallRecord($0.assumingMemoryBound(to: Storage.self))
        }
        while let record = next {
            calls += record.shown
            next = unsafe record.storage.pointee.outer
        }
        return calls
    }

    private var shown: [UInt] {
        (0..<CallRecord.capacity).map { unsafe storage.pointee.shown[$0].load(ordering: .acquiring) }
            .filter { $0 != 0 }
    }

    private func shows(_ wanted: UInt) -> Bool {
        for index in 0..<CallRecord.capacity {
            if unsafe storage.pointee.shown[index].load(ordering: .acquiring) == wanted { return true }
        }
        return false
    }

    // MARK: - Any thread

    /// Whether some thread calls an observation.
    ///
    /// After the observation was marked as removed. If the answer is no, then no thread will: each has seen the mark.
    static func isShown(_ observation: Observation) -> Bool {
        runloops_heavy_fence()
        let wanted = UInt(bitPattern: ObjectIdentifier(observation))
        return first { $0.shows(wanted) } != nil
    }

    /// Waits until every look-up that runs now is over.
    ///
    /// After something was replaced that look-ups read: afterwards nobody reads the old one.
    static func waitForReaders() {
        runloops_heavy_fence()
        var next = newest
        while let record = next {
            record.waitForReader()
            next = unsafe record.storage.pointee.older
        }
    }

    private func waitForReader() {
        let seen = unsafe storage.pointee.lookups.load(ordering: .acquiring)
        if seen & 1 == 0 { return }
        var looks = 0
        // To sleep is to give a cancelled thread occasion to end, here in the middle of a removal that others may wait for.
        let cancellation = ThreadCancellation.disable()
        defer { cancellation.restore() }
        // A few nanoseconds, unless the thread has lost its processor in the middle of it. If it has lost it to this one, and
        // this one is a real-time thread, then yielding is not enough.
        while unsafe storage.pointee.lookups.load(ordering: .acquiring) == seen {
            looks += 1
            if looks < 100 { sched_yield() } else { usleep(50) }
        }
    }

    private static func first(where isMeant: (CallRecord) -> Bool) -> CallRecord? {
        var next = newest
        while let record = next {
            if isMeant(record) { return record }
            next = unsafe record.storage.pointee.older
        }
        return nil
    }

    // MARK: - The records

    /// The newest record's address, or 0.
    private static let newestAddress = Atomic<UInt>(0)

    private static var newest: CallRecord? {
        // Safe: the address is that of a record.
        unsafe UnsafeMutablePointer(bitPattern: newestAddress.load(ordering: .acquiring)).map {
            unsafe CallRecord($0)
        }
    }

    /// Takes a record for the calling thread.
    @inline(never)
    private static func take(outer: CallRecord?) -> CallRecord {
        let record = free() ?? make()
        unsafe record.storage.pointee.outer = outer
        unsafe runloops_thread_set_calls(record.storage)
        // Any value but null makes the destructor run when the thread ends.
        if outer == nil { _ = unsafe pthread_setspecific(threadEnd, UnsafeRawPointer(bitPattern: 1)) }
        return record
    }

    private static func free() -> CallRecord? {
        first { record in
            // Looked at before: an exchange would take the line from the thread that has it.
            unsafe !record.storage.pointee.isTaken.load(ordering: .relaxed)
                && !record.storage.pointee.isTaken.exchange(true, ordering: .acquiring)
        }
    }

    private static func make() -> CallRecord {
        // Who waits for the end of a call waits for the thread that makes it.
        ThreadWait.callsHere.withLock { $0 = WaitTargetSource { callsHere.map { .call($0) } } }
        if atFork != 0 { fatalError("pthread_atfork: errno \(atFork)") }
        let memory = UnsafeMutableRawPointer.allocate(byteCount: 128, alignment: 128)
        precondition(MemoryLayout<Storage>.size <= 128, "a record has its cache lines for itself")
        let storage = unsafe memory.bindMemory(to: Storage.self, capacity: 1)
        while true {
            let older = newest
            unsafe storage.initialize(to: Storage(older: older))
            let address = unsafe UInt(bitPattern: older?.storage)
            let (exchanged, _) = newestAddress.compareExchange(
                expected: address, desired: UInt(bitPattern: storage), ordering: .acquiringAndReleasing)
            if exchanged { return unsafe CallRecord(storage) }
            unsafe storage.deinitialize(count: 1)
        }
    }

    /// The result of registering the first step of every forked child: an errno, or 0.
    private static let atFork = {
        // The list exists before the handler: a child would wait for ever for another thread of its parent that was making it.
        _ = newest
        return pthread_atfork(nil, nil) { forgetOthers() }
    }()

    /// In a forked child: what its parent's other threads called and looked up there is over.
    ///
    /// It makes nothing and frees nothing, for other threads of the parent may have been just doing that.
    private static func forgetOthers() {
        var next = newest
        while let record = next {
            next = unsafe record.storage.pointee.older
            if !record.isOfThisThread { record.forget() }
        }
    }

    private var isOfThisThread: Bool {
        // Safe: the thread's own pointer, put there by `take`.
        var next = unsafe runloops_thread_calls().map {
            unsafe CallRecord($0.assumingMemoryBound(to: Storage.self))
        }
        while let record = next {
            if unsafe record.storage == storage { return true }
            next = unsafe record.storage.pointee.outer
        }
        return false
    }

    private func forget() {
        unsafe storage.pointee.depth = 0
        // Not over a range, of whose parts an unoptimized build may ask the runtime here for the first time.
        var index = 0
        while index < CallRecord.capacity {
            unsafe storage.pointee.shown[index].store(0, ordering: .releasing)
            index += 1
        }
        let lookups = unsafe storage.pointee.lookups.load(ordering: .relaxed)
        if lookups & 1 == 1 { unsafe storage.pointee.lookups.store(lookups &+ 1, ordering: .releasing) }
        giveBack()
    }

    private func giveBack() {
        unsafe storage.pointee.isTaken.store(false, ordering: .releasing)
    }

    /// The calling thread ends: gives back its records.
    ///
    /// A handler may have ended it, so that some calls never return. Those are over, for whoever waits for them.
    private static func giveBackAll() {
        // Safe: what is shown is alive, for the frames that call it hold it, and never let go of it.
        let calls = unsafe callsHere.compactMap { unsafe UnsafeRawPointer(bitPattern: $0) }.map {
            unsafe Unmanaged<Observation>.fromOpaque($0).takeUnretainedValue()
        }
        // Safe: the thread's own pointer, put there by `take`.
        var next = unsafe runloops_thread_calls().map {
            unsafe CallRecord($0.assumingMemoryBound(to: Storage.self))
        }
        // What is let go of below may post, and takes a record of its own.
        runloops_thread_set_calls(nil)
        while let record = next {
            next = unsafe record.storage.pointee.outer
            record.forget()
        }
        for observation in calls { observation.callIsOver() }
    }

    /// Gives the records of a thread that ends back.
    ///
    /// A destructor of somebody else's that runs later and posts takes another one; in the last round of destructors that
    /// one stays taken, and is lost.
    private static let threadEnd: pthread_key_t = {
        var key = pthread_key_t()
        // Safe: the key is ours; the destructor is a C function that takes nothing from its argument.
        let code = unsafe pthread_key_create(&key) { _ in giveBackAll() }
        if code != 0 {
            fatalError("pthread_key_create: errno \(code); the process has no thread-specific key left")
        }
        return key
    }()
}

extension CallRecord {
    /// A place in a record, for one call at a time.
    ///
    /// `@safe`: the pointer is into a record, which lives for ever.
    @safe
    struct Place: ~Copyable {
        private let shown: UnsafePointer<Atomic<UInt>>

        fileprivate init(_ shown: UnsafePointer<Atomic<UInt>>) { unsafe self.shown = shown }

        /// Shows a call that is about to begin; look whether the observation was removed afterwards.
        @inline(__always)
        func show(_ observation: Observation) {
            unsafe shown.pointee.store(UInt(bitPattern: ObjectIdentifier(observation)), ordering: .releasing)
            runloops_light_fence()
        }

        /// Shows that the call is over, or did not begin; look whether the observation was removed afterwards.
        @inline(__always)
        func clear() {
            unsafe shown.pointee.store(0, ordering: .releasing)
            runloops_light_fence()
        }
    }
}
