internal import CThreads

extension RunLoop {
    /// Has the main loop run when an asynchronous main suspends for the first time, and from then on.
    ///
    /// Without this, the main thread is gone after the first `await` of an asynchronous main: it serves nothing any more,
    /// and tasks of the main actor run on other threads. With it the main thread stays what it was. Its loop runs in
    /// the default mode, and with it the main dispatch queue and the main actor; when ``stop()`` ends a run, the next
    /// one begins. The program ends when main returns.
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
    /// A synchronous main runs ``main`` itself, and does not need this; there it does nothing. Again is harmless.
    ///
    /// - Throws: ``SystemError``: this Swift runtime does not offer it (`ENOTSUP`), or other code has taken the main
    ///   thread (`EBUSY`). Nothing has changed.
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

    /// Whether the calling code runs on the main dispatch queue, and so on the main actor.
    ///
    /// Not the same as being on the main thread. A block that the main thread dispatches synchronously to another queue
    /// runs on the main thread, where ``isCurrent`` of ``main`` is true, and this is false. Where main was given away, tasks
    /// of the main actor run on other threads: then it is the other way round. In the handlers of the main loop both
    /// are true, and for any other loop this is false.
    ///
    /// > Thread safety: any thread; the answer is for the calling code.
    public var isServicingMainQueue: Bool { isMain && MainQueue.isCurrent }

    // MARK: - The main thread

    /// Ties the main loop to the main thread, which may not know of it yet, or ends it where that thread is gone.
    ///
    /// Called once, by whichever thread asks for the main loop first.
    func meetMainThread() {
        if !MainQueue.isOffered { RunLoopDiagnostics.report(RunLoop.notOffered) }
        if runloops_is_main_thread() {
            // A simulation may have given the thread another loop for a while: afterwards whoever asks for the current one has
            // it become this one.
            if RunLoop.existing == nil { install() }
        } else if MainQueue.isGivenAway {
            endAbandoned()
        } else {
            // Whoever serves the main queue tells which it is. If that is nobody, the main thread is only busy.
            MainQueue.perform { if !self.isCurrent && !runloops_is_main_thread() { self.endAbandoned() } }
        }
    }

    /// What the main thread does that an asynchronous main would have given away.
    static func runAdoptedMain() {
        while true { main.run(in: .default) }
    }

    /// Tells that the main thread goes, if that is not what the program meant.
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

    /// What is said where libdispatch keeps its main queue to itself.
    static let notOffered =
        "RunLoop.main: this libdispatch does not let a run loop serve the main queue; blocks of DispatchQueue.main and tasks of the main actor do not run while the main loop runs"
}
