internal import RunLoops
internal import Synchronization

/// The methods that a posting thread calls on an observer whose handler runs on a loop.
extension RedirectedObserver {
    /// Calls the handler immediately, or sends a delivery of the notification to the loop.
    func take(_ notification: Notification) {
        if redirector.mayDeliverAtOnce(lane) { return call(notification) }
        notification.pendingDeliveries?.begin(on: redirector.runLoop)
        guard case .unlimited = capacity.kind else { return takeBounded(notification) }
        if notification.pendingDeliveries == nil {
            lane.announce()
            unsafe lane.sendAnnounced(Delivery(notification, to: self), to: redirector.runLoop) {
                unsafe Delivery.end(at: $0, hasArrived: $1)
            }
        } else {
            let delivery = AwaitedDelivery(notification, to: self)
            let isAwaited = queue.withLock { $0.addAwaited(ObjectIdentifier(delivery), notification) }
            if !isAwaited { return finish(notification) }
            lane.announce()
            unsafe lane.sendAnnounced(delivery, to: redirector.runLoop) {
                unsafe AwaitedDelivery.end(at: $0, hasArrived: $1)
            }
        }
    }

    private func takeBounded(_ notification: Notification) {
        var gate: ThreadGate?
        var deadline = ContinuousClock.Instant.distantFuture
        if case .bounded(_, .block(let duration)) = capacity.kind {
            deadline = Moment.now().advanced(by: duration.nanosecondsRoundedUp).instant
            // The loop's own thread cannot wait for itself, so its posts are accepted beyond the limit.
            if !redirector.runLoop.isCurrent { gate = ThreadGate() }
        }
        while true {
            switch offer(notification, gate) {
            case .send(let number): return send(number)
            case .merged, .removed: return finish(notification)
            case .dropOldest(let oldest): return drop(oldest)
            case .dropNew: return drop(notification)
            case .wait:
                guard let waited = gate else { preconditionFailure("a poster without a gate does not wait") }
                gate = ThreadGate()
                if waited.wait(until: deadline) { continue }
                let next = queue.withLock { $0.leave(waited) }
                next?.open()
                return drop(notification)
            }
        }
    }

    /// Offers a notification to the queue of an observer with a capacity.
    ///
    /// - Parameters:
    ///   - notification: The notification.
    ///   - gate: The gate at which the poster would wait; nil if the poster cannot wait.
    /// - Returns: The next step of the poster.
    func offer(_ notification: Notification, _ gate: ThreadGate? = nil) -> BoundedDeliveryQueue.Step {
        queue.withLock { queue in
            let step = queue.offer(notification, capacity, observation.isRemoved ? nil : gate)
            // The delivery is announced under the lock. Otherwise the notification could wait in the queue while the lane is empty,
            // and a post on the loop's own thread would overtake the notification.
            if case .send = step { lane.announce() }
            return step
        }
    }

    /// Sends a delivery with the given number to the loop, after the queue has accepted a notification.
    func send(_ number: Int) {
        unsafe lane.sendAnnounced(NumberedDelivery(number, to: self), to: redirector.runLoop) {
            unsafe NumberedDelivery.end(at: $0, hasArrived: $1)
        }
    }

    private func drop(_ notification: Notification) {
        dropped.add(1, ordering: .relaxed)
        redirector.countDropped()
        if Recorder.isOn { Recorder.noteDrop(SourceLocation(notification.fileID, notification.line)) }
        finish(notification)
    }
}
