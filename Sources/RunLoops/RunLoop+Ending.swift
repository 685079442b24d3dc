extension RunLoop {
    /// Adds a handler that is called when the loop's thread ends.
    ///
    /// It is the place to close objects on the thread that opened them. The handlers are called on that thread when its last
    /// run has returned, the last added first, and before the loop releases anything: its inputs are still there. Blocks that
    /// the handlers perform on it are destroyed after them without having run, unless the handlers run the loop. Such a run
    /// returns at once in a ``RunLoopThread`` that was stopped, and in a thread that was cancelled while it slept. A handler
    /// that is added meanwhile is called, too. Joining the thread waits for all of them.
    ///
    /// ```swift
    /// let connection = Connection()
    /// RunLoop.current.addEndHandler { connection.close() }
    /// ```
    ///
    /// The main thread's loop usually lasts as long as the process, and its handlers are not called then. If the loop has
    /// ended, the handler is released at once.
    ///
    /// - Parameter handler: The handler.
    ///
    /// > Thread safety: the loop's own thread only.
    public func addEndHandler(_ handler: @escaping () -> Void) {
        let core = core("RunLoop.addEndHandler", "perform a block on the loop and add the handler there")
        if core.hasEnded { return }
        core.endHandlers.append(handler)
    }
}

extension LoopCore {
    /// Prepares the loop for the end of its thread.
    func prepareEnd() {
        // The thread was cancelled inside a call of the kernel: no run can call it again, so all runs return at once.
        if poller.isInKernel { requests.insert(.end) }
    }

    /// Closes the loop's descriptors; no handler is called and no thread waits for it any more.
    ///
    /// This happens at the end of the thread, and not with the last reference: a ``RunLoopThread`` that was joined holds the
    /// loop, and the stack of a thread that a handler has ended, or that was cancelled, holds it for ever.
    func closeDescriptors() {
        watchedDescriptors.end()
        poller.end()
        inbox.wakeup.end()
    }

    /// Calls the end handlers.
    func callEndHandlers() {
        // Taken out one by one: a handler may add another one.
        while let handler = endHandlers.popLast() { callHandler(.endHandler, as: .endHandler, handler) }
    }
}
