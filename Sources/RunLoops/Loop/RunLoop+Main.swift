internal import CRunLoops

extension RunLoop {
    /// Makes the main thread run its loop after the first suspension of an asynchronous main.
    ///
    /// Without this call, Swift gives the main thread away at the first `await` of an asynchronous main: the thread no longer
    /// serves any loop or queue, and tasks of the main actor run on other threads. With this call, the main thread runs its loop in
    /// the default mode, and so serves the main dispatch queue and the main actor. When ``stop()`` ends a run, the next run begins.
    /// The program ends when main returns.
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
    /// A synchronous main does not need this call, because it runs the main loop itself. In a synchronous main, the call does
    /// nothing. A second call does nothing.
    ///
    /// - Throws: ``SystemError`` if this Swift runtime does not support the call (`ENOTSUP`), or if other code has taken the main
    ///   thread (`EBUSY`). The main thread is unchanged then.
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
    /// In the handlers of the main loop, this property and ``isCurrent`` are both true. They differ in two cases:
    /// - The main thread dispatches a block synchronously to another queue. The block runs on the main thread, so ``isCurrent`` of
    ///   ``main`` is true in the block, but this property is false.
    /// - The main thread was given away. Tasks of the main actor then run on other threads, so this property of ``main`` is true in
    ///   such a task, but ``isCurrent`` is false.
    ///
    /// For any other loop, this property is false.
    ///
    /// > Thread safety: any thread. The value describes the code that reads the property.
    public var isServicingMainQueue: Bool { isMain && MainQueue.isCurrent }

    // MARK: - The main thread

    /// Makes the main loop the current loop of the main thread, or ends the loop if the main thread was given away.
    ///
    /// A main thread that was given away serves no loop; see ``adoptMain()``.
    ///
    /// The first thread that asks for the main loop calls this once. If that thread is not the main thread, the main thread
    /// installs the loop later, when it asks for its current loop.
    func meetMainThread() {
        if !MainQueue.isOffered { RunLoopDiagnostics.report(RunLoop.notOffered) }
        if runloops_is_main_thread() {
            // A simulation can have given the thread another loop for a while. The main loop is then installed when the thread next
            // asks for its current loop.
            if RunLoop.existing == nil { install() }
        } else if MainQueue.isGivenAway {
            endAbandoned()
        } else {
            // The block runs on the thread that serves the main queue. If that is not the main thread, the main thread was given
            // away. If no thread serves the queue yet, the main thread is only busy.
            MainQueue.perform { if !self.isCurrent && !runloops_is_main_thread() { self.endAbandoned() } }
        }
    }

    /// Runs the main loop for ever, on the main thread of an asynchronous main.
    static func runAdoptedMain() {
        while true { main.run(in: .default) }
    }

    /// Reports that the main thread was given away, so that it serves no loop any more.
    ///
    /// The method reports this only if the program has called `adoptMain`, or if the main loop holds inputs or blocks.
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

    /// The message that is reported if libdispatch does not let a run loop serve the main queue.
    static let notOffered =
        "RunLoop.main: this libdispatch does not let a run loop serve the main queue; blocks of DispatchQueue.main and tasks of the main actor do not run while the main loop runs"
}
