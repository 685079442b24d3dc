internal import CLibEvent
internal import Glibc

/// A gate at which threads wait until another thread opens the gate.
///
/// An open gate stays open.
///
/// `@unchecked Sendable`: the mutex guards `isOpen`, and the addresses never change. `@safe`: the memory belongs to this object
/// from `init` to `deinit`.
@safe
package final class ThreadGate: @unchecked Sendable {
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let condition: UnsafeMutablePointer<pthread_cond_t>
    /// True after the gate was opened; guarded by the mutex.
    private var isOpen = false

    package init() {
        unsafe mutex = InheritingMutex.make()
        unsafe condition = .allocate(capacity: 1)
        var attributes = pthread_condattr_t()
        unsafe pthread_condattr_init(&attributes)
        unsafe pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        unsafe pthread_cond_init(condition, &attributes)
        unsafe pthread_condattr_destroy(&attributes)
    }

    deinit {
        // Safe: no thread waits at the gate, because a waiting thread holds a reference to the gate.
        unsafe pthread_cond_destroy(condition)
        unsafe condition.deallocate()
        unsafe InheritingMutex.destroy(mutex)
    }

    /// Opens the gate.
    ///
    /// All waiting threads continue, and later waits return at once.
    package func open() {
        unsafe pthread_mutex_lock(mutex)
        isOpen = true
        unsafe pthread_cond_broadcast(condition)
        unsafe pthread_mutex_unlock(mutex)
    }

    /// True if the gate is open now.
    package var looksOpen: Bool {
        unsafe pthread_mutex_lock(mutex)
        defer { unsafe pthread_mutex_unlock(mutex) }
        return isOpen
    }

    /// Waits until the gate is open.
    package func wait() { _ = wait(until: .never) }

    /// Waits until the gate is open or a deadline has passed.
    ///
    /// - Parameter deadline: The deadline.
    /// - Returns: False if the deadline passed first.
    package func wait(until deadline: ContinuousClock.Instant) -> Bool { wait(until: Moment(deadline)) }

    /// Waits until the gate is open or a deadline has passed.
    ///
    /// If the deadline passes while the machine is suspended, the wait ends at most a second after the machine has resumed.
    ///
    /// Outside of a simulation, the thread cannot be cancelled during the wait.
    ///
    /// - Returns: False if the deadline passed first.
    package func wait(until deadline: Moment) -> Bool {
        // In a forked child the thread that would open the gate does not exist.
        Fork.check("RunLoop")
        if let driver = ThreadDriver.current {
            driver.wait(deadline.instant, .gate) { looksOpen }
            return looksOpen
        }
        // A thread that was cancelled in the wait would leave the mutex locked, and the thread that opens the gate would hang.
        let cancellation = ThreadCancellation.disable()
        defer { cancellation.restore() }
        unsafe pthread_mutex_lock(mutex)
        defer { unsafe pthread_mutex_unlock(mutex) }
        while !isOpen {
            if deadline == .never {
                unsafe pthread_cond_wait(condition, mutex)
                continue
            }
            guard let length = ThreadGate.waitLength(until: deadline, at: .now()) else { return false }
            var end = timespec()
            unsafe clock_gettime(CLOCK_MONOTONIC, &end)
            let nanoseconds = end.tv_nsec + Int(length)
            end.tv_sec += nanoseconds / 1_000_000_000
            end.tv_nsec = nanoseconds % 1_000_000_000
            unsafe pthread_cond_timedwait(condition, mutex, &end)
        }
        return true
    }

    /// The maximum time, in nanoseconds, for which a thread waits before it reads the clock again.
    static let longestWait: Int64 = 1_000_000_000

    /// Returns the length, in nanoseconds, of the next wait on the condition variable.
    ///
    /// No condition variable can wait on the clock of ``Moment``. The clock of condition variables stands still while the machine
    /// is suspended, but the clock of ``Moment`` continues. So a thread waits in short steps, and reads the clock of ``Moment``
    /// after each step. If the deadline passes during a suspension, the thread continues at most ``longestWait`` after the
    /// suspension has ended.
    ///
    /// - Returns: The length, or nil if the deadline has passed.
    static func waitLength(until deadline: Moment, at now: Moment) -> Int64? {
        if now >= deadline { return nil }
        let (left, overflow) = deadline.nanoseconds.subtractingReportingOverflow(now.nanoseconds)
        return overflow ? longestWait : min(left, longestWait)
    }
}
