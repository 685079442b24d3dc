internal import RunLoops

/// The deliveries on the stack of a loop's thread for which posters wait.
///
/// If a handler ends the thread, its delivery never returns: then the poster is told that the loop has ended.
///
/// > Thread safety: the loop's own thread only.
final class RunningDeliveries {
    /// Outermost first.
    private var receipts: [Receipt] = []

    /// Those of the calling thread's loop.
    static func on(_ runLoop: RunLoop) -> RunningDeliveries {
        runLoop.companion(ObjectIdentifier(RunningDeliveries.self)) {
            let made = RunningDeliveries()
            runLoop.addEndHandler { made.threadEnds(runLoop) }
            return made
        }
    }

    /// Makes a call for which somebody waits.
    func during(_ receipt: Receipt, _ body: () -> Void) {
        receipts.append(receipt)
        body()
        receipts.removeLast()
    }

    private func threadEnds(_ runLoop: RunLoop) {
        let left = receipts
        receipts = []
        for receipt in left { receipt.leave(runLoop, wasLost: true) }
    }
}
