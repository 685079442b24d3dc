internal import RunLoops
internal import Synchronization

/// A request that waits for its reply, on behalf of a thread or of a task.
///
/// A request is decided when it has a reply or has failed. Once it is sent, it stays in the ``RequestTable`` of its connection
/// until it is decided. The code that removes the request from the table decides it.
///
/// `@unchecked Sendable`: its variables are guarded by the lock of its connection's state, with two exceptions. The outcome may be
/// read without the lock once ``isDecided`` is true, because the outcome does not change again. The number changes only when
/// the request is sent, by the thread or task that made the request. That thread or task may read the number without the lock.
final class PendingRequest: @unchecked Sendable {
    /// The result of the request, for the thread or task that waits for it.
    enum Outcome: Sendable {
        case reply(Packet)
        case failure(MessagePortError)
    }

    /// The thread or task to wake when the request is decided.
    enum Waiter: Sendable {
        /// There is no thread or task to wake: neither waits yet, or the waiting thread reads the connection itself.
        case noWaiter
        /// A thread that waits at a gate, or that was woken and has not chosen its next step yet.
        case thread(ThreadGate)
        /// A task, which this closure resumes.
        ///
        /// The task's continuation is not stored here, because the size of a continuation is known only when the program runs.
        case task(@Sendable () -> Void)

        func wake() {
            switch self {
            case .noWaiter: return
            case .thread(let gate): gate.open()
            case .task(let resume): resume()
            }
        }
    }

    /// True if a task waits; false if a thread waits.
    let isTask: Bool

    /// The number of the request; the reply carries the same number.
    ///
    /// The ``RequestTable`` sets the number before the request is sent.
    var number: UInt64 = 0

    private var waiter = Waiter.noWaiter
    private var decided: Outcome?
    /// True once ``decided`` is set.
    ///
    /// This is stored after ``decided``, with release ordering. So a thread that loads true with acquire ordering also sees
    /// ``decided``.
    private let decision = Atomic(false)

    init(isTask: Bool) { self.isTask = isTask }

    /// True once the request has a reply or has failed.
    ///
    /// Any thread may read this, without the lock.
    var isDecided: Bool { decision.load(ordering: .acquiring) }

    /// The outcome, or nil if the request is not decided yet.
    ///
    /// Any thread may read this, without the lock.
    var outcome: Outcome? { isDecided ? decided : nil }

    /// The gate at which the request's thread waits, or nil if no thread waits at a gate.
    var gate: ThreadGate? {
        switch waiter {
        case .thread(let gate): gate
        case .noWaiter, .task: nil
        }
    }

    /// Sets the outcome, which is set only once.
    ///
    /// - Returns: The thread or task that waits for the outcome. The caller wakes it once it holds no lock.
    func decide(_ outcome: Outcome) -> Waiter {
        precondition(decided == nil, "a request in the table is undecided")
        decided = outcome
        decision.store(true, ordering: .releasing)
        return exchange(&waiter, with: .noWaiter)
    }

    /// Sets the thread or task to wake when the request is decided, unless it is decided already.
    ///
    /// - Returns: False if the request is decided already. Then the waiter is not woken.
    func attach(_ waiter: Waiter) -> Bool {
        if decided != nil { return false }
        self.waiter = waiter
        return true
    }
}
