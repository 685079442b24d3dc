// The main dispatch queue, in the main thread's loop only.

extension LoopCore {
    /// True if the main dispatch queue has blocks that this loop can run now.
    var mainQueueIsReady: Bool {
        guard members.modeIsCommon, let queue = mainQueue.queue else { return false }
        return queue.isReady
    }

    /// Returns true if it is time to poll the kernel for blocks of the main dispatch queue, in a pass that does not sleep.
    ///
    /// If the loop serves the main queue, the call also reads the clock.
    func isMainQueueDue() -> Bool {
        guard let queue = mainQueue.queue else { return false }
        now = Moment.now()
        return queue.isDue(at: now)
    }

    /// Runs all blocks that are in the main dispatch queue now.
    ///
    /// No budget limits their number, because libdispatch has no function that runs only some of the queued blocks.
    ///
    /// - Returns: True if the queue was served.
    @inline(__always)
    func serveMainQueue() -> Bool { mainQueue.queue != nil && mainQueueIsReady && serveReadyMainQueue() }

    private func serveReadyMainQueue() -> Bool {
        guard let queue = mainQueue.queue else { return false }
        members.handlers.call(.mainQueue, as: .mainQueue) { queue.serve() }
        return true
    }
}
