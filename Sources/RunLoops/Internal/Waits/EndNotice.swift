/// A notice that a thread has ended; other threads and tasks can wait for the notice.
final class EndNotice: Sendable {
    /// The threads and tasks that wait for the end of the thread; nil after the thread has ended.
    private let waits = Guarded<[ObjectIdentifier: OneShot<Bool>]?>([:])

    /// Announces that the thread has ended.
    ///
    /// This wakes all threads and tasks that wait for the end. Later waits return immediately.
    func post() {
        let waiting = waits.withLock { waits in
            defer { waits = nil }
            return waits
        }
        for wait in (waiting ?? [:]).values { wait.decide(true) }
    }

    /// Blocks the calling thread until the thread that the notice is about has ended.
    ///
    /// - Returns: False if the deadline passed first.
    func wait(until deadline: Moment) -> Bool {
        let wait = OneShot<Bool>()
        add(wait)
        defer { remove(wait) }
        return wait.wait(until: deadline)
    }

    /// Suspends the calling task until the thread that the notice is about has ended.
    ///
    /// - Returns: False if the deadline passed first, or the task was cancelled.
    func wait(until deadline: Moment, isolation: isolated (any Actor)? = #isolation) async -> Bool {
        let wait = OneShot<Bool>()
        defer { remove(wait) }
        return await wait.value(before: deadline, timedOut: false, cancelled: false, isolation: isolation) {
            add(wait)
        }
    }

    /// The number of threads and tasks that are waiting for the end of the thread.
    var waitingCount: Int { waits.withLock { $0?.count ?? 0 } }

    private func add(_ wait: OneShot<Bool>) {
        let hasEnded = waits.withLock { waits in
            waits?[ObjectIdentifier(wait)] = wait
            return waits == nil
        }
        if hasEnded { wait.decide(true) }
    }

    private func remove(_ wait: OneShot<Bool>) {
        waits.withLock { _ = $0?.removeValue(forKey: ObjectIdentifier(wait)) }
    }
}
