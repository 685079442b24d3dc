/// The waits of other threads and tasks for the blocks that a loop's thread is running now, outermost block first.
///
/// > Thread safety: the loop's own thread only.
final class WaitStack {
    private var waits: [any RunningWait] = []

    /// Records that a block, for which another thread or task waits, is about to run.
    func push(_ wait: any RunningWait) { waits.append(wait) }

    /// Records that the innermost block has returned.
    func pop() { waits.removeLast() }

    /// Ends all waits, because the loop's thread has ended before the blocks have returned.
    func threadEnds() {
        for wait in waits { wait.threadHasEnded() }
        waits = []
    }
}

/// A wait of another thread or task for a block that a loop's thread is running.
protocol RunningWait {
    /// Called when the loop's thread has ended before the block has returned.
    func threadHasEnded()
}
