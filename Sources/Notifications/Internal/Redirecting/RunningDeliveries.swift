internal import RunLoops

/// The deliveries that are under way on a loop's thread, and for which a poster waits.
///
/// If a handler ends the thread, the handler's delivery never returns. In that case the poster's wait throws an error, which says
/// that the loop has ended.
///
/// > Thread safety: the loop's own thread only.
final class RunningDeliveries {
    /// One element for each delivery that is under way: the object that counts the deliveries for the waiting poster.
    ///
    /// The element of the outermost delivery on the thread's stack is the first.
    private var running: [PendingDeliveries] = []

    /// Returns the running deliveries of the calling thread's loop.
    static func on(_ runLoop: RunLoop) -> RunningDeliveries {
        runLoop.companion(ObjectIdentifier(RunningDeliveries.self)) {
            let made = RunningDeliveries()
            runLoop.addEndHandler { made.threadEnds(runLoop) }
            return made
        }
    }

    /// Calls `body`, which delivers a notification to a handler while the poster waits.
    func during(_ pending: PendingDeliveries, _ body: () -> Void) {
        running.append(pending)
        body()
        running.removeLast()
    }

    private func threadEnds(_ runLoop: RunLoop) {
        let left = running
        running = []
        for pending in left { pending.end(on: runLoop, wasDiscarded: true) }
    }
}
