/// A value that is decided once, and the thread or task that waits for it.
///
/// Any number of threads can try to decide the value, and the first thread succeeds. A thread can also claim the decision first,
/// and decide the value later. From the claim on, no other thread can decide the value.
///
/// > Thread safety: any thread. One thread or task at a time waits for the value, and takes it once.
package final class OneShot<Value: Sendable>: Sendable {
    /// The thread or task that is woken by the decision.
    private enum Waiter: Sendable {
        case thread(ThreadGate)
        case task(CheckedContinuation<Void, Never>)

        func wake() {
            switch self {
            case .thread(let gate): gate.open()
            case .task(let continuation): continuation.resume()
            }
        }
    }

    private enum State: Sendable {
        /// Undecided; any thread may decide.
        case open
        /// Undecided; only the thread that has claimed the decision may settle it.
        case claimed
        /// Decided, and not yet taken.
        case decided(Value)
        /// Decided, and taken by the waiter.
        case taken
    }

    private struct Contents: Sendable {
        var state = State.open
        var waiter: Waiter?

        var isDecided: Bool {
            switch state {
            case .open, .claimed: false
            case .decided, .taken: true
            }
        }

        /// Stores the decided value, and removes the waiter.
        ///
        /// - Returns: The waiter, which the caller wakes after it has released the lock.
        mutating func decide(_ value: Value) -> Waiter? {
            state = .decided(value)
            defer { waiter = nil }
            return waiter
        }
    }

    private let contents = Guarded(Contents())

    package init() {}

    // MARK: - Deciding

    /// Decides the value, unless it is decided or the decision is claimed.
    ///
    /// - Returns: False if another thread has decided the value or claimed the decision.
    @discardableResult
    package func decide(_ value: Value) -> Bool {
        let (decides, waiter): (Bool, Waiter?) = contents.withLock { contents in
            guard case .open = contents.state else { return (false, nil) }
            return (true, contents.decide(value))
        }
        waiter?.wake()
        return decides
    }

    /// Claims the decision, unless another thread has claimed it, or the value has been decided.
    ///
    /// - Returns: True if the caller has the claim. The caller must then call ``settle(_:)`` once.
    package func claim() -> Bool {
        contents.withLock { contents in
            guard case .open = contents.state else { return false }
            contents.state = .claimed
            return true
        }
    }

    /// Decides the value, on behalf of the thread that has claimed the decision.
    ///
    /// The caller must have called ``claim()``, and calls this once.
    package func settle(_ value: Value) {
        let waiter = contents.withLock { contents in
            guard case .claimed = contents.state else {
                preconditionFailure("a claim is settled once, by the thread that has it")
            }
            return contents.decide(value)
        }
        waiter?.wake()
    }

    /// True if the value has been decided, so that no wait is necessary.
    package var isDecided: Bool { contents.withLock { $0.isDecided } }

    // MARK: - Waiting

    /// Blocks the calling thread until the value is decided.
    package func wait() { _ = wait(until: .never) }

    /// Blocks the calling thread until the value is decided, or a deadline passes.
    ///
    /// - Returns: False if the deadline passed first. The value can still be decided after that.
    package func wait(until deadline: Moment) -> Bool {
        let gate = ThreadGate()
        return !attach(.thread(gate)) || gate.wait(until: deadline)
    }

    /// Suspends the calling task until the value is decided, and returns the value.
    ///
    /// The method is isolated to the caller's actor. The isolation is a parameter, so that the closures in the body can capture the
    /// actor: such a closure is isolated only to an actor that it captures. Without the capture, the task would run the closures on
    /// the default executor. The task would then switch to that executor twice: before it waits, and when it continues.
    ///
    /// - Parameters:
    ///   - deadline: The time at which the value becomes `timedOut`.
    ///   - timedOut: The value for the case that the deadline passes before a thread has decided the value or claimed the decision.
    ///   - cancelled: The value for the case that the task is cancelled before a thread has decided the value or claimed the
    ///     decision.
    ///   - isolation: The isolation of the caller.
    ///   - begin: A function that starts the work that decides the value. It is called once, after the task has begun to wait, or
    ///     not at all if the task was cancelled before that. If `begin` decides the value, that value is returned even if the
    ///     deadline has passed.
    /// - Returns: The value.
    package func value(
        before deadline: Moment, timedOut: Value, cancelled: Value,
        isolation: isolated (any Actor)? = #isolation, _ begin: () -> Void
    ) async -> Value {
        var alarm: Task<Void, Never>?
        await withTaskCancellationHandler {
            _ = isolation
            await withCheckedContinuation { continuation in
                guard attach(.task(continuation)) else { return continuation.resume() }
                begin()
                if deadline != .never && !isDecided { alarm = decide(timedOut, at: deadline) }
            }
        } onCancel: {
            decide(cancelled)
        }
        alarm?.cancel()
        return take()
    }

    /// Removes and returns the decided value; the waiting thread or task calls this once.
    package func take() -> Value {
        contents.withLock { contents in
            guard case .decided(let value) = contents.state else {
                preconditionFailure("the waiter is woken after the decision, and takes the value once")
            }
            contents.state = .taken
            return value
        }
    }

    /// Stores the waiting thread or task, which the decision then wakes.
    ///
    /// - Returns: False if the value has been decided already. The waiter is then not stored, because nothing would wake it.
    private func attach(_ waiter: Waiter) -> Bool {
        contents.withLock { contents in
            if contents.isDecided { return false }
            contents.waiter = waiter
            return true
        }
    }

    /// Starts a task that decides the value at `moment`, unless the task is cancelled before that moment.
    ///
    /// A task is used instead of a timer, because the loop of a timer can be blocked.
    private func decide(_ value: Value, at moment: Moment) -> Task<Void, Never> {
        Task {
            do { try await Task.sleep(until: moment.instant, clock: .continuous) } catch { return }
            decide(value)
        }
    }
}
