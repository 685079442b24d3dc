// The main dispatch queue, in the main thread's loop only.

extension LoopCore {
    /// True if blocks of the main queue wait that may run now.
    var mainQueueIsReady: Bool {
        guard members.modeIsCommon, let queue = mainQueue.queue else { return false }
        return queue.isReady
    }

    /// True if a pass that does not sleep is to ask the kernel for the sake of the main queue; reads the clock then.
    func isMainQueueDue() -> Bool {
        guard let queue = mainQueue.queue else { return false }
        now = Moment.now()
        return queue.isDue(at: now)
    }

    /// Runs the blocks of the main queue that were there when the step began.
    ///
    /// libdispatch decides how many that are: it has no way to run only some of them.
    ///
    /// - Returns: True if the queue was served.
    func serveMainQueue() -> Bool {
        guard mainQueueIsReady, let queue = mainQueue.queue else { return false }
        members.handlers.call(.mainQueue, as: .mainQueue) { queue.serve() }
        return true
    }
}
