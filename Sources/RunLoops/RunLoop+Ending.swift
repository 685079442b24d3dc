extension RunLoop {
    /// Adds a handler that is called when the loop's thread ends.
    ///
    /// Use it to close objects on the thread that opened them. The handlers are called on that thread when its last
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
    /// An object that ends before its thread takes its handler back with ``EndHandler/cancel()``.
    ///
    /// - Parameter handler: The handler.
    /// - Returns: The handle that takes the handler back.
    ///
    /// > Thread safety: the loop's own thread only.
    @discardableResult
    public func addEndHandler(_ handler: @escaping () -> Void) -> EndHandler {
        let core = core("RunLoop.addEndHandler", "perform a block on the loop and add the handler there")
        if core.members.hasEnded { return EndHandler() }
        return core.ending.add(handler, of: core.members)
    }
}
