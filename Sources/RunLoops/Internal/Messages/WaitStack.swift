/// The waits of other threads and tasks for the blocks that a loop's thread is running, outermost block first.
///
/// > Thread safety: the loop's own thread only.
final class WaitStack {
    private var waits: [any RunningWait] = []

    /// Records that a block is about to run.
    func push(_ wait: any RunningWait) { waits.append(wait) }

    /// Records that the innermost block has returned.
    func pop() { waits.removeLast() }

    /// Ends all waits, because the thread has ended while their blocks were on the stack.
    func threadEnds() {
        for wait in waits { wait.threadHasEnded() }
        waits = []
    }
}

/// A wait for a block that a loop's thread is running.
protocol RunningWait {
    /// Called when the loop's thread has ended during the block.
    func threadHasEnded()
}
