// The main dispatch queue, in the main thread's loop only.

extension LoopCore {
    /// True if the main queue has blocks that can run now.
    var mainQueueIsReady: Bool {
        guard members.modeIsCommon, let queue = mainQueue.queue else { return false }
        return queue.isReady
    }

    /// Returns true if a pass that does not sleep should poll the kernel for the main queue.
    ///
    /// If the loop serves that queue, this also reads the clock.
    func isMainQueueDue() -> Bool {
        guard let queue = mainQueue.queue else { return false }
        now = Moment.now()
        return queue.isDue(at: now)
    }

    /// Runs the blocks of the main queue that were queued when the step began.
    ///
    /// libdispatch has no function that runs only some of the queued blocks.
    ///
    /// - Returns: True if the queue was served.
    func serveMainQueue() -> Bool {
        guard mainQueueIsReady, let queue = mainQueue.queue else { return false }
        members.handlers.call(.mainQueue, as: .mainQueue) { queue.serve() }
        return true
    }
}
