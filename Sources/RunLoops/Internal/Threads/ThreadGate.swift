internal import CRunLoops

/// A gate at which threads wait until another thread opens the gate.
///
/// An open gate stays open. The gate is a word on which the kernel lets threads sleep (a futex), so opening a gate at which no
/// thread waits takes no system call.
///
/// `@unchecked Sendable`: the word is changed by atomic operations only, and its address never changes. `@safe`: the memory belongs
/// to this object from `init` to `deinit`.
@safe
package final class ThreadGate: @unchecked Sendable {
    private let word: UnsafeMutablePointer<UInt32>

    package init() {
        unsafe word = .allocate(capacity: 1)
        unsafe word.initialize(to: 0)
    }

    // Safe: no thread waits at the gate or opens it, because such a thread holds a reference to the gate.
    deinit { unsafe word.deallocate() }

    /// Opens the gate.
    ///
    /// All waiting threads continue, and later waits return at once.
    package func open() { unsafe runloops_gate_open(word) }

    /// True if the gate is open now.
    package var looksOpen: Bool { unsafe runloops_gate_is_open(word) }

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
        if deadline == .never { return unsafe runloops_gate_wait(word, -1) }
        while !looksOpen {
            guard let length = ThreadGate.waitLength(until: deadline, at: .now()) else { return false }
            _ = unsafe runloops_gate_wait(word, length)
        }
        return true
    }

    /// The maximum time, in nanoseconds, for which a thread waits before it reads the clock again.
    static let longestWait: Int64 = 1_000_000_000

    /// Returns the length, in nanoseconds, of the next wait for the word.
    ///
    /// The kernel cannot wait for a word on the clock of ``Moment``. The clock of such waits stands still while the machine is
    /// suspended, but the clock of ``Moment`` continues. So a thread waits in short steps, and reads the clock of ``Moment``
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
