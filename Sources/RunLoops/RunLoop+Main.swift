internal import CThreads

extension RunLoop {
    /// Runs the main loop from the first suspension of an asynchronous main on.
    ///
    /// Without this, Swift gives the main thread away at the first `await` of an asynchronous main: the thread serves nothing
    /// any more, and tasks of the main actor run on other threads. With it, the main thread runs its loop in the default mode,
    /// and so serves the main dispatch queue and the main actor. When ``stop()`` ends a run, the next one begins. The program
    /// ends when main returns.
    ///
    /// ```swift
    /// @main struct Server {
    ///     static func main() async throws {
    ///         try RunLoop.adoptMain()
    ///         try await serve()
    ///     }
    /// }
    /// ```
    ///
    /// A synchronous main runs ``main`` itself, and does not need this; there it does nothing. A second call does nothing.
    ///
    /// - Throws: ``SystemError``: this Swift runtime does not support it (`ENOTSUP`), or other code has taken the main thread
    ///   (`EBUSY`). Nothing has changed then.
    ///
    /// > Thread safety: the main thread only, before the first `await` of main.
    public static func adoptMain() throws(SystemError) {
        if !runloops_is_main_thread() {
            misuse(
                "RunLoop.adoptMain: called outside the main thread; an asynchronous main calls it before its first await, which gives the main thread away"
            )
        }
        try MainQueue.keepMainThread { RunLoop.runAdoptedMain() }
    }

    /// True if this is the main loop, and the calling code runs on the main dispatch queue, and so on the main actor.
    ///
    /// That is not the same as being on the main thread. If the main thread dispatches a block synchronously to another queue,
    /// the block runs on the main thread, where ``isCurrent`` of ``main`` is true, but this is false. If the main thread was
    /// given away, tasks of the main actor run on other threads: there it is the other way round. In the handlers of the main
    /// loop both are true, and for any other loop this is false.
    ///
    /// > Thread safety: any thread; the answer is for the calling code.
    public var isServicingMainQueue: Bool { isMain && MainQueue.isCurrent }

    // MARK: - The main thread

    /// Installs the main loop on the main thread, or ends it if that thread was given away.
    ///
    /// Called once, by the first thread that asks for the main loop.
    func meetMainThread() {
        if !MainQueue.isOffered { RunLoopDiagnostics.report(RunLoop.notOffered) }
        if runloops_is_main_thread() {
            // A simulation may have given the thread another loop for a while: this one is then installed when the thread next
            // asks for its current loop.
            if RunLoop.existing == nil { install() }
        } else if MainQueue.isGivenAway {
            endAbandoned()
        } else {
            // The thread that serves the main queue shows which case it is. If no thread serves it, the main thread is only
            // busy.
            MainQueue.perform { if !self.isCurrent && !runloops_is_main_thread() { self.endAbandoned() } }
        }
    }

    /// Runs the main loop for ever, on a main thread that an asynchronous main would have given away.
    static func runAdoptedMain() {
        while true { main.run(in: .default) }
    }

    /// Reports that the main thread was given away, if the program has adopted it or its loop holds something.
    static func reportAbandoned(_ core: LoopCore) {
        if MainQueue.mainThreadWasKept {
            RunLoopDiagnostics.report(
                "RunLoop.adoptMain: the main thread was given away all the same, so this Swift runtime does not honour it; run RunLoop.main in a synchronous main"
            )
        } else if core.holdsSomething() {
            RunLoopDiagnostics.report(
                "RunLoop.main: the main thread was given away, and what its loop holds is never served; an asynchronous main calls RunLoop.adoptMain() before its first await, and any other runs RunLoop.main in place of dispatchMain()"
            )
        }
    }

    /// The report for a libdispatch that does not let a run loop serve its main queue.
    static let notOffered =
        "RunLoop.main: this libdispatch does not let a run loop serve the main queue; blocks of DispatchQueue.main and tasks of the main actor do not run while the main loop runs"
}
