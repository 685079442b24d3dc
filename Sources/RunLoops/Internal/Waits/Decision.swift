internal import Synchronization

/// The decision of a ``OneShot``, without its value: how far it is, and the thread or task that waits for it.
///
/// The class is not generic, so that it is compiled once, whatever the type of the value. A decision has three steps: a thread
/// claims it, stores the value, and publishes it.
///
/// `@unchecked Sendable`: the waiting thread stores `waiter` before it marks that in `word`, and the thread that publishes the
/// decision reads `waiter` only if it finds the mark.
@usableFromInline
package class Decision: @unchecked Sendable {
    /// The thread or task that is woken by the decision.
    private enum Waiter {
        case thread(ThreadGate)
        case task(TaskContinuation)
        case parked(Parking)

        func wake() {
            switch self {
            case .thread(let gate): gate.open()
            case .task(let waiting):
                HeldLocks.requireNone()
                waiting.continuation.resume()
            case .parked(let parking): parking.open()
            }
        }
    }

    /// A continuation, in an object of its own: the library does not know its size, and would look it up at each use of a ``Waiter``.
    private final class TaskContinuation: Sendable {
        let continuation: CheckedContinuation<Void, Never>

        init(_ continuation: CheckedContinuation<Void, Never>) { self.continuation = continuation }
    }

    /// The values of `word`: the phase, and a mark for a stored waiter.
    private enum Word {
        static let open: UInt8 = 0
        static let claimed: UInt8 = 1
        static let decided: UInt8 = 2
        static let taken: UInt8 = 3
        static let phase: UInt8 = 3
        static let hasWaiter: UInt8 = 4
    }

    private let word = Atomic<UInt8>(Word.open)
    #if !CHECKS_EXCLUSIVITY
        @safe @exclusivity(unchecked)
    #endif
    private var waiter: Waiter?

    /// The size in bytes of the memory for a value.
    @inlinable static var capacity: Int { 48 }

    /// The memory for the value of a ``OneShot``.
    #if !CHECKS_EXCLUSIVITY
        @safe @exclusivity(unchecked)
    #endif
    @usableFromInline
    var memory: (UInt64, UInt64, UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0, 0, 0)

    @usableFromInline
    init() {}

    private var phase: UInt8 { word.load(ordering: .acquiring) & Word.phase }

    /// True if the value has been decided, so that no wait is necessary.
    package var isDecided: Bool { phase >= Word.decided }

    /// True if the value has been stored, and was not taken.
    var holdsValue: Bool { phase == Word.decided }

    /// Calls a function with the memory for the value.
    @inlinable @inline(__always)
    func withMemory<Result>(_ body: (UnsafeMutableRawPointer) -> Result) -> Result {
        unsafe withUnsafeMutableBytes(of: &memory) { unsafe body($0.baseAddress!) }
    }

    // MARK: - Deciding

    /// Claims the decision, unless another thread has claimed it, or the value has been decided.
    ///
    /// - Returns: True if the caller has the claim. The caller must then settle the value once.
    @usableFromInline
    package func claim() -> Bool {
        var seen = word.load(ordering: .relaxed)
        while seen & Word.phase == Word.open {
            // Relaxed, because a claim publishes nothing, and the value that it makes way for is published by `publish()`.
            let (exchanged, original) = word.weakCompareExchange(
                expected: seen, desired: seen | Word.claimed, ordering: .relaxed)
            if exchanged { return true }
            seen = original
        }
        return false
    }

    /// Publishes the value that the caller has stored after ``claim()``, and wakes the waiting thread or task.
    @usableFromInline
    func publish() {
        let before = word.bitwiseXor(Word.claimed ^ Word.decided, ordering: .acquiringAndReleasing).oldValue
        if before & Word.phase != Word.claimed {
            preconditionFailure("a claim is settled once, by the thread that has it")
        }
        if before & Word.hasWaiter != 0 { waiter?.wake() }
    }

    /// Marks that the waiter takes the value.
    @usableFromInline
    func markTaken() {
        let before = word.bitwiseOr(Word.taken, ordering: .acquiring).oldValue
        if before & Word.phase != Word.decided {
            preconditionFailure("the waiter is woken after the decision, and takes the value once")
        }
    }

    // MARK: - Waiting

    /// Blocks the calling thread until the value is decided.
    package func wait() { _ = wait(until: .never) }

    /// Blocks the calling thread until the value is decided, or a deadline passes.
    ///
    /// - Returns: False if the deadline passed first. The value can still be decided after that.
    package func wait(until deadline: Moment) -> Bool {
        if isDecided { return true }
        // A second wait is at the gate of the first one, because the thread that decides can be about to open that gate.
        if case .thread(let gate) = waiter { return gate.wait(until: deadline) }
        let gate = ThreadGate()
        return !attach(.thread(gate)) || gate.wait(until: deadline)
    }

    /// Suspends the calling task until the value is decided.
    ///
    /// The method is isolated to the caller's actor. The isolation is a parameter, so that the closures in the body can capture the
    /// actor: such a closure is isolated only to an actor that it captures. Without the capture, the task would run the closures on
    /// the default executor.
    ///
    /// If the caller runs on a loop, the task waits in a ``Parking``. The thread that decides then sends it to its own loop, and no
    /// other thread takes part.
    @usableFromInline
    func suspend(
        before deadline: Moment, isolation: isolated (any Actor)?, timeOut: @escaping @Sendable () -> Void,
        cancel: @Sendable () -> Void, _ begin: () -> Void
    ) async {
        var alarm: Task<Void, Never>?
        let parking = Parking.forCaller(isolation)
        await withTaskCancellationHandler {
            _ = isolation
            if let parking {
                guard attach(.parked(parking)) else { return }
                begin()
                alarm = makeAlarm(deadline, timeOut)
                if !parking.isOpen { await parking.enter() }
            } else {
                await withCheckedContinuation { continuation in
                    guard attach(.task(TaskContinuation(continuation))) else { return continuation.resume() }
                    begin()
                    alarm = makeAlarm(deadline, timeOut)
                }
            }
        } onCancel: {
            cancel()
        }
        alarm?.cancel()
    }

    /// Stores the waiting thread or task, which the decision then wakes.
    ///
    /// - Returns: False if the value has been decided already. The waiter is then not stored, because nothing would wake it.
    private func attach(_ waiter: Waiter) -> Bool {
        self.waiter = waiter
        let before = word.bitwiseOr(Word.hasWaiter, ordering: .acquiringAndReleasing).oldValue
        return before & Word.phase < Word.decided
    }

    /// Starts a task that lets the wait time out at `deadline`, unless the task is cancelled before; nil if that cannot happen.
    ///
    /// A task is used instead of a timer, because the loop of a timer can be blocked.
    private func makeAlarm(_ deadline: Moment, _ timeOut: @escaping @Sendable () -> Void) -> Task<
        Void, Never
    >? {
        if deadline == .never || isDecided { return nil }
        return Task {
            do { try await Task.sleep(until: deadline.instant, clock: .continuous) } catch { return }
            timeOut()
        }
    }
}
