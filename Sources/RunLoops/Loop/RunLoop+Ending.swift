extension RunLoop {
    /// Adds a handler that is called when the loop's thread ends.
    ///
    /// Use an end handler to close objects on the thread that opened them. The loop calls its end handlers on that thread when its
    /// last run has returned, in the reverse order of their addition, and before it releases its inputs. A handler that another end
    /// handler adds is called, too. Joining the thread waits for all end handlers.
    ///
    /// An end handler can perform a block on the loop. The block runs only if this handler or a later one then runs the loop.
    /// Otherwise the block is destroyed after the handlers. If the thread is a ``RunLoopThread`` that was stopped, or was cancelled
    /// while it slept, a handler cannot run the loop: each run returns at once.
    ///
    /// ```swift
    /// let connection = Connection()
    /// RunLoop.current.addEndHandler { connection.close() }
    /// ```
    ///
    /// The main thread's loop usually lasts as long as the process. In that case its handlers are not called. If the loop has
    /// ended, the new handler is released at once.
    ///
    /// If an object is closed before its thread ends, cancel its handler with ``EndHandler/cancel()``.
    ///
    /// - Parameter handler: The handler.
    /// - Returns: A handle for cancelling the handler.
    ///
    /// > Thread safety: the loop's own thread only.
    @discardableResult
    public func addEndHandler(_ handler: @escaping () -> Void) -> EndHandler {
        let core = core("RunLoop.addEndHandler", "perform a block on the loop and add the handler there")
        if core.members.hasEnded { return EndHandler() }
        return core.ending.add(handler, of: core.members)
    }
}
