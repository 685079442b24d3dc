internal import RunLoops
internal import Synchronization

/// An observation whose handler belongs to the thread of a loop, and is called and destroyed there.
final class RedirectedObservation: Observation, @unchecked Sendable {
    // `@unchecked Sendable`: the class adds only a constant that is `Sendable`.
    private let runLoop: RunLoop

    init(_ runLoop: RunLoop, _ handler: @escaping (Notification) -> Void) {
        self.runLoop = runLoop
        super.init(sequence: 0, object: nil, handler: NotificationHandler(handler))
    }

    override func releaseHandler() {
        // A forked child has no thread on which the handler could be destroyed, so it keeps the handler.
        if Fork.isChild { return }
        if runLoop.isCurrent { return super.releaseHandler() }
        // Objects that the handler holds can belong to the loop's thread, so they are destroyed there, even if the block is
        // discarded without having run. If the thread has ended, no thread uses these objects, and any thread can destroy them.
        let release = ReleaseOnLoop(runLoop) { super.releaseHandler() }
        runLoop.performOwn { release.run() }
    }
}

/// A closure that releases a handler, and that is called only once.
///
/// If the loop's thread still exists, the closure is called on that thread.
private final class ReleaseOnLoop: Sendable {
    private let runLoop: RunLoop
    private let body: @Sendable () -> Void
    private let hasRun = Atomic<Bool>(false)

    init(_ runLoop: RunLoop, _ body: @escaping @Sendable () -> Void) {
        self.runLoop = runLoop
        self.body = body
    }

    func run() {
        if !hasRun.exchange(true, ordering: .acquiringAndReleasing) { body() }
    }

    /// Calls the body if ``run()`` was never called; this happens if the loop has ended or is ending.
    ///
    /// If this thread is the loop's thread, or if the loop has ended already, the body runs immediately on this thread. Otherwise
    /// the loop keeps the body, and runs it on the loop's thread at the end, after the loop has released its other objects.
    deinit {
        if hasRun.load(ordering: .acquiring) { return }
        if runLoop.isCurrent { body() } else { runLoop.keepToTheEnd(RunOnDestruction(body)) }
    }
}

/// An object that calls a closure when the object is destroyed.
private final class RunOnDestruction: Sendable {
    private let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    deinit { body() }
}
