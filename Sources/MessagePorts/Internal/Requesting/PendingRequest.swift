internal import RunLoops
internal import Synchronization

/// A request that was made, and waits for its reply: on behalf of a thread, or of a task.
///
/// From when it is sent it is in the table of its connection, until it is decided, by whoever takes it out.
///
/// `@unchecked Sendable`: what changes is guarded by the state of its connection. What was decided may be read without that,
/// once ``isDecided`` says that it is there: it does not change again. Its number changes only while the one who makes it sends
/// it, who may read it without the lock.
final class PendingRequest: @unchecked Sendable {
    /// What its waiter gets.
    enum Outcome: Sendable {
        case reply(Packet)
        case failure(MessagePortError)
    }

    /// Who is to be told that it is decided.
    enum Waiter: Sendable {
        /// Nobody yet, or a thread that reads itself.
        case nobody
        /// A thread that waits at a gate, or is about to look again what it can do.
        case thread(ThreadGate)
        /// A task, which this resumes; not its continuation, whose size is known only when the program runs.
        case task(@Sendable () -> Void)

        func wake() {
            switch self {
            case .nobody: return
            case .thread(let gate): gate.open()
            case .task(let resume): resume()
            }
        }
    }

    /// Whether a task waits, and no thread.
    let isTask: Bool

    /// What its reply has, too; the table's to give, before it is sent.
    var number: UInt64 = 0

    private var waiter = Waiter.nobody
    private var decided: Outcome?
    /// Set after ``decided``, which it makes visible.
    private let decision = Atomic(false)

    init(isTask: Bool) { self.isTask = isTask }

    /// Whether nothing is waited for any more.
    ///
    /// Any thread, without the lock.
    var isDecided: Bool { decision.load(ordering: .acquiring) }

    /// What was decided; nil if nothing is yet.
    ///
    /// Any thread, without the lock.
    var outcome: Outcome? { isDecided ? decided : nil }

    /// The gate at which its thread waits.
    var gate: ThreadGate? {
        switch waiter {
        case .thread(let gate): gate
        case .nobody, .task: nil
        }
    }

    /// Decides what the waiter gets, once.
    ///
    /// - Returns: Who is told by the caller, once it holds no lock.
    func decide(_ outcome: Outcome) -> Waiter {
        precondition(decided == nil, "who is in the table is undecided")
        decided = outcome
        decision.store(true, ordering: .releasing)
        defer { waiter = .nobody }
        return waiter
    }

    /// Says who waits from now on, unless it is decided.
    ///
    /// - Returns: False if it is: then nobody is told.
    func attach(_ waiter: Waiter) -> Bool {
        if decided != nil { return false }
        self.waiter = waiter
        return true
    }
}
