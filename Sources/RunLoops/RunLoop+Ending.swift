extension RunLoop {
    /// Has a handler called when the loop's thread ends.
    ///
    /// For what must be closed on the thread that opened it. The handlers are called on that thread when its last run has
    /// returned, the last added first, and before the loop lets go of anything: its inputs are still there, and what
    /// the handlers post to it is destroyed after them without having run, unless they run the loop, which in a
    /// ``RunLoopThread`` that was stopped, and in a thread that was cancelled while it slept, returns at once. One that is
    /// added meanwhile is called, too. Whoever joins the thread waits for them.
    ///
    /// ```swift
    /// let connection = Connection()
    /// RunLoop.current.addEndHandler { connection.close() }
    /// ```
    ///
    /// The main thread's loop usually goes with the process, and its handlers are not called then. On a loop that has
    /// ended, the handler is let go of at once.
    ///
    /// - Parameter handler: What is called.
    ///
    /// > Thread safety: the loop's own thread only.
    public func addEndHandler(_ handler: @escaping () -> Void) {
        let core = core("RunLoop.addEndHandler", "perform a block on the loop and add the handler there")
        if core.hasEnded { return }
        core.endHandlers.append(handler)
    }
}

extension LoopCore {
    /// The thread ends.
    func prepareEnd() {
        // It was cancelled while it asked the kernel: no run can ask again, and so all return at once.
        if poller.isInKernel { requests.insert(.end) }
    }

    /// Closes what the loop has opened; nothing of it is called or waits any more.
    ///
    /// By the end of the thread, and not by the last reference: a ``RunLoopThread`` that was joined holds the loop, and so
    /// does for ever the stack of a thread that a handler has ended, or that was cancelled.
    func closeDescriptors() {
        watchedDescriptors.end()
        poller.end()
        inbox.wakeup.end()
    }

    /// Calls what was asked for at the thread's end.
    func callEndHandlers() {
        // Taken out one by one: a handler may add another one.
        while let handler = endHandlers.popLast() { callHandler(.endHandler, as: .endHandler, handler) }
    }
}
