internal import CLibEvent
internal import CRunLoops
internal import Glibc
internal import Synchronization

/// The processor time that a thread has used, which any thread can read.
///
/// The kernel counts the time, at no cost for the thread.
struct ProcessorTime: ~Copyable, Sendable {
    /// The system's ID of the thread; 0 before the first call of `begin()`.
    let thread = Atomic<Int32>(0)
    /// The processor time of the thread at its end, in nanoseconds; -1 until then.
    private let final = Atomic<Int64>(-1)

    /// Sets the calling thread as the thread whose processor time this value reads.
    func begin() { thread.store(runloops_thread_id(), ordering: .relaxed) }

    /// Stores the processor time of the calling thread, which is about to end.
    ///
    /// After the thread has ended, its time cannot be read by its ID, because the system can give the ID to another thread.
    func end() { final.store(max(runloops_clock(CLOCK_THREAD_CPUTIME_ID), 0), ordering: .relaxed) }

    /// The processor time until now, or until ``end()``, in nanoseconds; 0 before the first call of `begin()`.
    var nanoseconds: Int64 {
        let final = final.load(ordering: .relaxed)
        if final >= 0 { return final }
        let thread = thread.load(ordering: .relaxed)
        if thread == 0 { return 0 }
        // This is the number by which the kernel identifies the clock of a thread. It consists of the inverted ID of the thread, a
        // bit that means "of a thread", and two bits that mean "time on a processor".
        return max(runloops_clock(~thread << 3 | 0b110), 0)
    }
}
