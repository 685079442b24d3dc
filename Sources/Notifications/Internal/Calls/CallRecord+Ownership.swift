internal import CRunLoops
internal import Glibc
internal import RunLoops
internal import Synchronization

/// The list of all records, and the methods by which threads take records and give them back.
///
/// A record belongs to a thread from the thread's first post to the thread's end. In a forked child, the records of the threads
/// that exist only in the parent become free.
extension CallRecord {
    /// The address of the record that was made last; 0 if there is none.
    private static let newestAddress = Atomic<UInt>(0)

    /// The record that was made last; nil if there is none.
    ///
    /// It is the first record of a linked list of all records. `older` is the link from each record to the next.
    static var newest: CallRecord? {
        // Safe: the address is that of a record.
        unsafe UnsafeMutablePointer(bitPattern: newestAddress.load(ordering: .acquiring)).map {
            unsafe CallRecord($0)
        }
    }

    // MARK: - Taking a record

    /// Takes a free record for the calling thread, or makes one if none is free.
    ///
    /// For the thread's first record, `outer` is nil. If the thread's nested calls have filled a record, the thread needs a further
    /// one; `outer` is then the full record.
    @inline(never)
    static func take(outer: CallRecord?) -> CallRecord {
        let record = takeFree() ?? make()
        unsafe record.storage.pointee.outer = outer
        unsafe runloops_thread_set_calls(record.storage)
        // Any value but null makes the destructor run when the thread ends.
        if outer == nil { _ = unsafe pthread_setspecific(threadEndKey, UnsafeRawPointer(bitPattern: 1)) }
        return record
    }

    private static func takeFree() -> CallRecord? {
        first { record in
            // The flag is loaded first, because an exchange would take the cache line away from the thread that uses the record.
            unsafe !record.storage.pointee.isTaken.load(ordering: .relaxed)
                && !record.storage.pointee.isTaken.exchange(true, ordering: .acquiring)
        }
    }

    private static func make() -> CallRecord {
        // The wait graph needs to know which calls a thread is making: a wait for the end of a call is a wait for the thread that
        // makes the call.
        ThreadWait.callsHere.withLock { $0 = WaitTargetSource { callsOfThisThread.map { .call($0) } } }
        if atFork != 0 { fatalError("pthread_atfork: errno \(atFork)") }
        let memory = UnsafeMutableRawPointer.allocate(byteCount: 128, alignment: 128)
        precondition(MemoryLayout<Storage>.size <= 128, "a record is alone on its cache lines")
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

    // MARK: - Giving a record back

    /// Marks the record as free, so that another thread can take it.
    func giveBack() {
        unsafe storage.pointee.isTaken.store(false, ordering: .releasing)
    }

    /// Removes all data of the record's thread from the record, and marks the record as free.
    ///
    /// The record's thread is ending or, in a forked child, does not exist.
    private func reset() {
        unsafe storage.pointee.depth = 0
        // This is a `while` loop, not a `for` loop over a range. In an unoptimized build, a `for` loop can make the runtime look up
        // type metadata, which takes locks of the runtime. In a forked child those locks can be held forever.
        var index = 0
        while index < CallRecord.capacity {
            unsafe storage.pointee.calls[index].store(0, ordering: .releasing)
            index += 1
        }
        let lookUps = unsafe storage.pointee.lookUps.load(ordering: .relaxed)
        if lookUps & 1 == 1 { unsafe storage.pointee.lookUps.store(lookUps &+ 1, ordering: .releasing) }
        giveBack()
    }

    /// Gives back all records of the calling thread, which is ending.
    ///
    /// If a handler has ended the thread, the call of that handler never returns. Other threads can be waiting until that call is
    /// over. This method counts the call as over, so that they continue.
    private static func threadEnds() {
        // Safe: the published observations are alive, because the stack frames that call them hold references to them and were
        // never unwound.
        let calls = unsafe callsOfThisThread.compactMap { unsafe UnsafeRawPointer(bitPattern: $0) }.map {
            unsafe Unmanaged<Observation>.fromOpaque($0).takeUnretainedValue()
        }
        var next = ofThisThread
        // An object that is released below can post a notification. Because of this store, that post takes another record.
        runloops_thread_set_calls(nil)
        while let record = next {
            next = unsafe record.storage.pointee.outer
            record.reset()
        }
        for observation in calls { observation.callHasEnded() }
    }

    /// The key of a thread-specific value, whose destructor gives back the records of an ending thread.
    ///
    /// The destructor of another key can run later, and post a notification. The thread then takes a new record. If that happens in
    /// the last round of destructors, the new record is never given back.
    private static let threadEndKey: pthread_key_t = {
        var key = pthread_key_t()
        // Safe: the key is ours, and the destructor is a C function that ignores its argument.
        let code = unsafe pthread_key_create(&key) { _ in threadEnds() }
        if code != 0 {
            fatalError("pthread_key_create: errno \(code); the process has no thread-specific key left")
        }
        return key
    }()

    // MARK: - Forked children

    /// The result of `pthread_atfork`, which registers a handler for forked children.
    ///
    /// The handler runs at the beginning of a forked child, and marks records as free there. It is registered once, when this
    /// constant is first read.
    private static let atFork = {
        // The list is initialized before the handler is registered. Otherwise a child could wait forever for a thread that was
        // initializing the list and that exists only in the parent.
        _ = newest
        return pthread_atfork(nil, nil) { forgetOtherThreads() }
    }()

    /// Marks as free, in a forked child, the records of those threads that exist only in the parent.
    ///
    /// At the fork, such a thread was possibly allocating memory. So this method allocates no memory, and frees none.
    private static func forgetOtherThreads() {
        var next = newest
        while let record = next {
            next = unsafe record.storage.pointee.older
            if !record.isOfThisThread { record.reset() }
        }
    }

    private var isOfThisThread: Bool {
        var next = CallRecord.ofThisThread
        while let record = next {
            if unsafe record.storage == storage { return true }
            next = unsafe record.storage.pointee.outer
        }
        return false
    }
}
