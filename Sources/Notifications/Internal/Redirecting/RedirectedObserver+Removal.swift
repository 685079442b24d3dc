internal import RunLoops
internal import Synchronization

/// The end of an observer on a loop: it is removed, or its loop ends.
extension RedirectedObserver {
    /// Stores the registration that feeds this observer.
    func setRegistration(_ registration: Registration) {
        self.registration.withLock { $0 = registration }
        // The loop may have ended meanwhile.
        if observation.isRemoved { end() }
    }

    /// Removes the observer: no call of the handler starts after this, and no poster waits for room any more.
    func remove() {
        // In a forked child nothing waits to be delivered, and a lock that another thread of the parent held stays locked.
        if Fork.isChild { return _ = observation.remove() }
        wasRemoved.store(true, ordering: .releasing)
        end()
        // The deliveries that were sent find nothing.
        let closed = queue.withLock { $0.close() }
        for gate in closed.gates { gate.open() }
        for notification in closed.notifications { finish(notification) }
    }

    /// Ends the observation on the loop, and the registration that feeds it.
    private func end() {
        _ = observation.remove()
        let ended = registration.withLock { registration in
            defer { registration = nil }
            return registration
        }
        ended?.end()
    }

    /// Keeps this observer alive until everything that was sent to it has arrived or was discarded.
    ///
    /// Called when the last poster has returned, so that the block below comes after everything that was sent.
    func outliveDeliveries() {
        // In a forked child nothing arrives.
        if Fork.isChild { return }
        // Deliveries to an observer with a capacity count their references to it. An empty lane is no reason to return: a
        // delivery that has just arrived may not have counted its reference yet, because the compiler may move the retain
        // behind `hasArrived`.
        guard case .unlimited = capacity.kind else { return }
        let runLoop = redirector.runLoop
        // If the loop's thread is ending, it may still be discarding deliveries.
        if !lane.perform(on: runLoop, { withExtendedLifetime(self) {} }) { runLoop.keepToTheEnd(self) }
    }

    // MARK: - Deliveries that are discarded because the loop has ended

    /// Ends a delivery that was discarded.
    func wasDiscarded(_ notification: Notification) {
        countUndelivered()
        finish(notification, wasDiscarded: true)
    }

    /// Ends a discarded delivery whose poster waits, unless it has stopped waiting.
    func wasDiscarded(_ notification: Notification, awaitedAs id: ObjectIdentifier) {
        countUndelivered()
        if queue.withLock({ $0.removeAwaited(id) }) { finish(notification, wasDiscarded: true) }
    }

    /// Ends the notifications of a numbered delivery that was discarded.
    func wasDiscarded(upTo number: Int) {
        while let next = next(upTo: number) { wasDiscarded(next.notification) }
    }

    private func countUndelivered() {
        if wasRemoved.load(ordering: .acquiring) { return }
        undelivered.add(1, ordering: .relaxed)
        redirector.countUndelivered()
        end()
    }
}
