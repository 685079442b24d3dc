internal import RunLoops
internal import Synchronization

/// The methods that end an observer on a loop, when the observer is removed or its loop ends.
extension RedirectedObserver {
    /// Stores the registration that passes notifications to this observer.
    func setRegistration(_ registration: Registration) {
        self.registration.withLock { $0 = registration }
        // If the loop ended before the registration was stored, the registration is ended here.
        if observation.isRemoved { end() }
    }

    /// Removes the observer, so that after this no call of the handler starts and no poster waits for room.
    func remove() {
        // In a forked child nothing waits to be delivered, and a lock that another thread of the parent held stays locked, so this
        // takes no lock.
        if Fork.isChild { return _ = observation.remove() }
        wasRemoved.store(true, ordering: .releasing)
        end()
        // The deliveries that were sent find nothing to deliver in the closed queue.
        let closed = queue.withLock { $0.close() }
        for gate in closed.gates { gate.open() }
        for notification in closed.notifications { finish(notification) }
    }

    /// Ends the observation on the loop, and ends the registration that passes notifications to this observer.
    private func end() {
        _ = observation.remove()
        let ended = registration.withLock { registration in
            defer { registration = nil }
            return registration
        }
        ended?.end()
    }

    /// Keeps this observer alive until all deliveries that were sent to it have arrived or were discarded.
    ///
    /// This is called after the last post to this observer has returned, so no further delivery is sent. If the capacity is
    /// unlimited, the method sends the loop a block that holds the observer. The block arrives after all deliveries.
    func outliveDeliveries() {
        // In a forked child no delivery arrives.
        if Fork.isChild { return }
        // A delivery to an observer with a capacity holds a counted reference to that observer, so only an unlimited observer needs
        // the block. An unlimited observer needs the block even if the lane is empty: a delivery that has just arrived may not have
        // counted its reference yet, because the compiler is free to move the retain to a point after `hasArrived`.
        guard case .unlimited = capacity.kind else { return }
        let runLoop = redirector.runLoop
        // If the loop's thread is ending, it may still be discarding deliveries, so the loop keeps this observer to the end.
        if !lane.perform(on: runLoop, { withExtendedLifetime(self) {} }) { runLoop.keepToTheEnd(self) }
    }

    // MARK: - Deliveries that are discarded because the loop has ended

    /// Counts a notification as undelivered, and lets its poster stop waiting for this observer.
    ///
    /// This is called if the delivery of the notification was discarded.
    func wasDiscarded(_ notification: Notification) {
        countUndelivered()
        finish(notification, wasDiscarded: true)
    }

    /// Counts a notification as undelivered, and lets its poster stop waiting for this observer.
    ///
    /// If the poster has already stopped waiting, the notification is only counted.
    func wasDiscarded(_ notification: Notification, awaitedAs id: ObjectIdentifier) {
        countUndelivered()
        if queue.withLock({ $0.removeAwaited(id) }) { finish(notification, wasDiscarded: true) }
    }

    /// Counts the notifications of a discarded delivery as undelivered.
    ///
    /// These are the notifications that the delivery would have passed to the handler: all that wait, up to the given number.
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
