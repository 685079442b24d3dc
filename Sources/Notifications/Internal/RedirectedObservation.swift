internal import RunLoops
internal import Synchronization

/// The observation at the end of the way: its handler is the loop's, and is let go of there.
final class RedirectedObservation: Observation, @unchecked Sendable {
    // `@unchecked Sendable`: nothing is added but a constant that is `Sendable`.
    private let runLoop: RunLoop

    init(_ runLoop: RunLoop, _ handler: @escaping (Notification) -> Void) {
        self.runLoop = runLoop
        super.init(sequence: 0, object: nil, handler: NotificationHandler(handler))
    }

    override func releaseHandler() {
        // A forked child has no thread on which the handler could be destroyed, so it keeps it.
        if Fork.isChild { return }
        if runLoop.isCurrent { return super.releaseHandler() }
        // What a handler holds may belong to the loop's thread, and is destroyed there, also if the block is let go of without
        // having run. If the thread has ended, nobody is left whom it could disturb.
        let parting = Parting(runLoop) { super.releaseHandler() }
        runLoop.perform { parting.happen() }
    }
}

/// Something that is to be done once, on a loop's thread, while that exists.
private final class Parting: Sendable {
    private let runLoop: RunLoop
    private let body: @Sendable () -> Void
    private let hasHappened = Atomic<Bool>(false)

    init(_ runLoop: RunLoop, _ body: @escaping @Sendable () -> Void) {
        self.runLoop = runLoop
        self.body = body
    }

    func happen() {
        if !hasHappened.exchange(true, ordering: .acquiringAndReleasing) { body() }
    }

    /// The block has run, or the loop has ended, or ends: then it lets go of what it keeps on its thread, as its last act.
    deinit {
        if hasHappened.load(ordering: .acquiring) { return }
        if runLoop.isCurrent { body() } else { runLoop.keepToTheEnd(Farewell(body)) }
    }
}

/// Does something when it goes.
private final class Farewell: Sendable {
    private let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    deinit { body() }
}
