// The main dispatch queue, in the main thread's loop only.

extension LoopCore {
    /// Whether blocks of the main queue wait that may run now.
    var mainQueueIsReady: Bool {
        guard modeIsCommon, let mainQueue else { return false }
        return mainQueue.isReady
    }

    /// Whether a pass that does not sleep is to ask the kernel for the sake of the main queue; reads the clock then.
    func isMainQueueDue() -> Bool {
        guard let mainQueue else { return false }
        now = Moment.now()
        return mainQueue.isDue(at: now)
    }

    /// Runs the blocks of the main queue that were there when the step began.
    ///
    /// How many that is, is libdispatch's to say: it has no way to run some of them.
    ///
    /// - Returns: Whether the queue was served.
    func serveMainQueue() -> Bool {
        guard mainQueueIsReady, let mainQueue else { return false }
        callHandler(.mainQueue, as: .mainQueue) { mainQueue.serve() }
        return true
    }
}
