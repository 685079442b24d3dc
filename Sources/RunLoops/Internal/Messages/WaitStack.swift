/// A stack of the blocks that a loop's thread is running, and for which other threads or tasks wait.
///
/// Each element stands for the wait for one block. The outermost block comes first.
///
/// > Thread safety: the loop's own thread only.
final class WaitStack {
    private var waits: [any RunningWait] = []

    /// Records that a block is about to run, and that another thread or task waits for it.
    func push(_ wait: any RunningWait) { waits.append(wait) }

    /// Records that the innermost block has returned.
    func pop() { waits.removeLast() }

    /// Ends all waits, because the loop's thread has ended before the blocks have returned.
    func threadEnds() {
        for wait in waits { wait.threadHasEnded() }
        waits = []
    }
}

/// An element of a ``WaitStack``: another thread or task waits until the loop's thread has run a block.
protocol RunningWait {
    /// Called when the loop's thread has ended before the block has returned.
    func threadHasEnded()
}
