internal import RunLoops

/// The deliveries on the stack of a loop's thread that posters wait for.
///
/// If a handler ends the thread, its delivery never returns. Then the poster's wait throws that the loop has ended.
///
/// > Thread safety: the loop's own thread only.
final class RunningDeliveries {
    /// The deliveries of each poster's notification, outermost first.
    private var running: [PendingDeliveries] = []

    /// The running deliveries of the calling thread's loop.
    static func on(_ runLoop: RunLoop) -> RunningDeliveries {
        runLoop.companion(ObjectIdentifier(RunningDeliveries.self)) {
            let made = RunningDeliveries()
            runLoop.addEndHandler { made.threadEnds(runLoop) }
            return made
        }
    }

    /// Calls a handler for a notification whose poster waits.
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
