internal import CRunLoops
internal import RunLoops
internal import Synchronization

/// A record of the observations whose handlers one thread is calling.
///
/// Through these records, a thread that removes an observation can see the calls of other threads.
///
/// A call of a handler costs two plain stores, and no atomic exchange. The calling thread publishes the observation in a slot of
/// its record, checks that the observation was not removed, calls the handler, clears the slot and checks again. A removal does the
/// expensive part: it sets a bit in the observation's state, makes every thread pass a fence, and reads all records. Either the
/// removal sees the published call, or the calling thread sees the bit.
///
/// A record also shows whether its thread is reading an ``ObserverMap``, so that a writer of the map knows when it can free the
/// memory that it has replaced.
///
/// Records pass from thread to thread and are never freed, so they can be read at any time. Apart from deeply nested calls, the
/// number of records is the largest number of threads that have ever been posting at the same time.
///
/// > Thread safety: ``isCalledByAnyThread(_:)`` and ``waitForReaders()`` from any thread; the rest from the thread that owns
/// > the record.
///
/// `@safe`: the pointer always refers to a record, and records are never freed.
@safe
struct CallRecord {
    /// The number of nested calls that one record can publish.
    ///
    /// A thread whose calls nest more deeply takes another record.
    static var capacity: Int { 6 }

    let storage: UnsafeMutablePointer<Storage>

    /// The memory of a record, which shares its cache lines with nothing else.
    struct Storage: ~Copyable {
        /// The addresses of the observations that are being called, outermost first; 0 in an empty slot.
        ///
        /// This must be the first property, so that it has the record's address: ``withSlot(_:)`` counts the slots from that
        /// address.
        let calls = InlineArray<6, Atomic<UInt>> { _ in Atomic(0) }
        /// A counter that is odd while the thread reads an ``ObserverMap``.
        let lookUps = Atomic<UInt>(0)
        /// True while a thread owns the record.
        let isTaken = Atomic<Bool>(true)

        /// The number of slots in use; only the record's thread reads and writes it.
        var depth = 0
        /// The thread's previous record, in which all slots are in use; nil if this is the thread's first record.
        ///
        /// Only the thread that owns this record accesses the property.
        var outer: CallRecord?
        /// The record that was made before this one; never changed.
        ///
        /// It follows this record in the list of all records.
        let older: CallRecord?

        init(older: CallRecord?) { self.older = older }
    }

    init(_ storage: UnsafeMutablePointer<Storage>) { unsafe self.storage = storage }

    // MARK: - The calling thread's record

    /// The calling thread's record.
    ///
    /// If the thread has no record, it takes a free one, or makes one if none is free.
    @inline(__always)
    static var current: CallRecord { ofThisThread ?? take(outer: nil) }

    /// The calling thread's record, or nil if it has none.
    @inline(__always)
    static var ofThisThread: CallRecord? {
        // Safe: the thread's own pointer, which `take` has set.
        unsafe runloops_thread_calls().map { unsafe CallRecord($0.assumingMemoryBound(to: Storage.self)) }
    }

    /// Calls the body with a free slot of the record, in which the body can publish one call at a time.
    @inline(__always)
    func withSlot<Result>(_ body: (borrowing Slot) -> Result) -> Result {
        let depth = unsafe storage.pointee.depth
        if depth == CallRecord.capacity { return withSlotOfAnotherRecord(body) }
        unsafe storage.pointee.depth = depth + 1
        defer { unsafe storage.pointee.depth = depth }
        // Safe: `depth` is below the capacity, the calls are the first property of the record, and the record is never freed.
        return unsafe body(
            Slot(UnsafeRawPointer(storage).assumingMemoryBound(to: Atomic<UInt>.self) + depth))
    }

    @inline(never)
    private func withSlotOfAnotherRecord<Result>(_ body: (borrowing Slot) -> Result) -> Result {
        let inner = CallRecord.take(outer: self)
        defer {
            unsafe runloops_thread_set_calls(storage)
            inner.giveBack()
        }
        return inner.withSlot(body)
    }

    /// Calls a closure that reads a value that other threads can replace at any time.
    ///
    /// If a writer replaces the value during the call, it does not free the old value until the closure has returned.
    ///
    /// - Parameter body: A short closure, which calls no code of the user and takes no lock.
    /// - Returns: The result of the body.
    @inline(__always)
    func lookUp<Result>(_ body: () -> Result) -> Result {
        let before = unsafe storage.pointee.lookUps.load(ordering: .relaxed)
        unsafe storage.pointee.lookUps.store(before &+ 1, ordering: .releasing)
        runloops_light_fence()
        defer { unsafe storage.pointee.lookUps.store(before &+ 2, ordering: .releasing) }
        return body()
    }

    /// True if the observation is being called on the calling thread.
    static func isCalledByThisThread(_ observation: Observation) -> Bool {
        callsOfThisThread.contains(UInt(bitPattern: ObjectIdentifier(observation)))
    }

    /// The addresses of the observations whose handlers are being called on the calling thread.
    static var callsOfThisThread: [UInt] {
        var calls: [UInt] = []
        var next = ofThisThread
        while let record = next {
            calls += record.calls
            next = unsafe record.storage.pointee.outer
        }
        return calls
    }

    private var calls: [UInt] {
        (0..<CallRecord.capacity).map { unsafe storage.pointee.calls[$0].load(ordering: .acquiring) }
            .filter { $0 != 0 }
    }
}

extension CallRecord {
    /// A slot of a record, which publishes one call at a time.
    ///
    /// `@safe`: the pointer refers to a part of a record, and records are never freed.
    @safe
    struct Slot: ~Copyable {
        private let call: UnsafePointer<Atomic<UInt>>

        fileprivate init(_ call: UnsafePointer<Atomic<UInt>>) { unsafe self.call = call }

        /// Publishes that a call of an observation is about to begin.
        ///
        /// The caller must check afterwards that the observation was not removed.
        @inline(__always)
        func publish(_ observation: Observation) {
            unsafe call.pointee.store(UInt(bitPattern: ObjectIdentifier(observation)), ordering: .releasing)
            runloops_light_fence()
        }

        /// Clears the slot, because the call has ended or did not begin.
        ///
        /// The caller must check afterwards whether the observation was removed.
        @inline(__always)
        func clear() {
            unsafe call.pointee.store(0, ordering: .releasing)
            runloops_light_fence()
        }
    }
}
