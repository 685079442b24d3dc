internal import RunLoops
internal import Synchronization

/// The removal of an observation.
///
/// A removed observation settles when its last call has returned: its handler is released, and the closures that were passed to
/// ``whenFinished(_:)`` are called.
extension Observation {
    @inline(__always)
    final var state: ObservationState { ObservationState(rawValue: stateBits.load(ordering: .acquiring)) }

    @inline(__always)
    final var isRemoved: Bool { state.contains(.removed) }

    /// Ends the observation, so that no call starts after this.
    ///
    /// Any thread may call this. A second call does nothing.
    ///
    /// - Returns: True if this call removed the observation, false if the observation had been removed before.
    final func remove() -> Bool {
        guard add(.removed) else { return false }
        settle()
        return true
    }

    /// Settles the observation if it was removed and none of its other calls is running.
    ///
    /// A thread calls this when its call of the handler has ended. Before that, the thread has cleared the slot in which the call
    /// was published.
    @inline(__always)
    final func callHasEnded() {
        if isRemoved { settle() }
    }

    /// Adds a bit to the observation's state.
    ///
    /// - Returns: True if the bit was not set before.
    private func add(_ bit: ObservationState) -> Bool {
        let before = stateBits.bitwiseOr(bit.rawValue, ordering: .sequentiallyConsistent).oldValue
        return !ObservationState(rawValue: before).contains(bit)
    }

    /// Settles the observation if none of its calls is running.
    ///
    /// The thread that removes the observation calls this. A thread that has called the handler also calls this, if the
    /// observation was removed meanwhile. The last of these threads sees that no call is running, and settles the observation. In
    /// a forked child these threads can be missing, so ``whenFinished(_:)`` calls this, too.
    @inline(never)
    private func settle() {
        if state.contains(.settled) || CallRecord.isCalledByAnyThread(self) { return }
        if add(.settled) { finish() }
    }

    /// Releases the handler and calls the waiters.
    ///
    /// This happens once, after the last call of the handler has returned.
    private func finish() {
        let waiters = end.withLock { end in
            end.hasCome = true
            defer { end.waiters = [] }
            return end.waiters
        }
        // `hasCome` is set before the handler is released. Releasing the handler can destroy an object whose deinitializer waits
        // for the observation to finish. Otherwise that wait would never return.
        releaseHandler()
        for waiter in waiters { waiter() }
    }

    /// Calls `waiter` when no call of the handler is running.
    ///
    /// If no call is running now, `waiter` can be called before this method returns. Call this method after ``remove()``.
    final func whenFinished(_ waiter: @escaping @Sendable () -> Void) {
        let hasCome = end.withLock { end in
            if !end.hasCome { end.waiters.append(waiter) }
            return end.hasCome
        }
        // In a forked child, it is possible that the thread that would have settled the observation exists only in the parent. So
        // this thread settles the observation.
        if hasCome { waiter() } else if isRemoved { settle() }
    }

    /// The number of closures that wait until the last call of the handler has returned.
    final var waiterCount: Int { end.withLock { $0.waiters.count } }
}
