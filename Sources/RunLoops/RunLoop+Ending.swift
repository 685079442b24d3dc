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
        if core.members.hasEnded { return }
        core.ending.addHandler(handler)
    }
}
