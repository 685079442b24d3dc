internal import CRunLoops
internal import RunLoops
internal import Synchronization

/// The methods of an observer that are called on the thread of the observer's loop.
extension RedirectedObserver {
    /// Calls the handler with a notification that has arrived on the loop's thread.
    @inline(__always)
    func deliver(_ notification: Notification) {
        call(notification)
        finish(notification)
    }

    /// Calls the handler with a notification whose poster has begun to wait for the delivery.
    ///
    /// The poster may have stopped waiting since then.
    func deliver(_ notification: Notification, awaitedAs id: ObjectIdentifier) {
        let isAwaited = queue.withLock { $0.removeAwaited(id) }
        if isAwaited { deliverAwaited(notification) } else { call(notification) }
    }

    /// Calls the handler with a notification whose poster may be waiting for the delivery.
    ///
    /// The poster's wait ends even if the handler ends the thread.
    private func deliverAwaited(_ notification: Notification) {
        guard let pending = notification.pendingDeliveries else { return call(notification) }
        RunningDeliveries.on(redirector.runLoop).during(pending) { call(notification) }
        finish(notification)
    }

    /// Calls the handler with each waiting notification whose number is not above `number`.
    ///
    /// `number` is the number of a delivery that has arrived on the loop's thread.
    func deliver(upTo number: Int) {
        var isUnderWay = true
        while let next = next(upTo: number) {
            // The delivery is counted as arrived just before its last call of the handler, not before its first. A handler can run
            // the loop, and a post in that run must not overtake the notifications that this delivery has yet to deliver.
            if next.isLast {
                isUnderWay = false
                lane.hasArrived()
            }
            deliverAwaited(next.notification)
        }
        if isUnderWay { lane.hasArrived() }
    }

    /// Removes and returns the next waiting notification; nil if none waits, or if its number is above `number`.
    ///
    /// `number` is the number of a delivery. If a poster waits for room, and there is room now, this opens the poster's gate.
    func next(upTo number: Int) -> BoundedDeliveryQueue.Next? {
        guard let next = queue.withLock({ $0.next(upTo: number, capacity) }) else { return nil }
        next.gate?.open()
        return next
    }

    @inline(__always)
    func call(_ notification: Notification) {
        if runloops_records() {
            Recorder.nameDelivery(SourceLocation(notification.fileID, notification.line))
        }
        CallRecord.current.withSlot { slot in
            observation.call(notification, in: slot) {
                // The call is counted here, because after this point a removal can no longer prevent it.
                delivered.store(delivered.load(ordering: .relaxed) &+ 1, ordering: .relaxed)
            }
        }
    }
}
