internal import Synchronization

// The state of a loop for health checks and metrics. Any thread may read it, and no member waits for the loop.

extension RunLoop {
    /// The loops of the process that have not ended, in the order in which they were made.
    ///
    /// The array includes the library's own loops, such as the loop of a watchdog.
    ///
    /// > Thread safety: any thread.
    public static var all: [RunLoop] {
        Fork.check("RunLoop.all")
        return LoopRegistry.loops
    }

    /// The amount of work that other threads have sent to the loop, and that the loop has not begun.
    ///
    /// Each block, job and delivery counts as one, in any mode. Each port or source that has become ready since the loop last
    /// looked for work from other threads also counts as one; for the messages of a port, see ``Port/count``. A growing number is
    /// the sign of a blocked or overloaded loop. The loop continues while the number is read, so concurrent changes can make the
    /// number slightly too high or too low. The number is zero for a loop that has ended.
    ///
    /// > Thread safety: any thread.
    public var pendingCount: Int {
        // The count of blocks that have run is read before the count of blocks that were taken from the mailbox. If the loop takes
        // and runs a block between these two readings, the result is too high by one. In the opposite order, that block would only
        // be subtracted, and so hide another block that has not run.
        let run = handle.counters.blocks.value
        let blocks = handle.counters.takenBlocks.value
        let nodes = handle.counters.takenNodes.value
        let word = handle.mailbox.current
        if word.isClosed { return 0 }
        let untaken = (word.sequence &- UInt64(truncatingIfNeeded: nodes)) & Mailbox.Word.roomMask
        return max(0, blocks - run) + Int(untaken)
    }

    /// The processor time that the loop's thread has used, including handlers and spins.
    ///
    /// The kernel counts the time, at no cost for the loop. The time is zero if the main thread has not used its loop. For a loop
    /// that has ended, it is the time of the thread up to the loop's end.
    ///
    /// > Thread safety: any thread.
    public var processorTime: Duration { .nanoseconds(handle.processorTime.nanoseconds) }

    /// The system's ID of the loop's thread, which debuggers and `top -H` show; 0 if the main thread has not used its loop.
    ///
    /// > Thread safety: any thread.
    public var threadID: Int32 { handle.processorTime.thread.load(ordering: .relaxed) }
}

extension Port {
    /// The number of messages that wait for the receiver.
    ///
    /// The number does not include messages of senders that wait for room, nor the messages of send-once rights. For a signal port,
    /// it is one or zero. Other threads continue while the number is read, so it can be outdated immediately. In a port without a
    /// limit, the number wraps around to zero at 2²⁰.
    ///
    /// > Thread safety: any thread.
    public var count: Int { core.messageCount }

    /// The number of senders that wait for room; a sender is a thread or a task.
    ///
    /// > Thread safety: any thread.
    public var waitingSenderCount: Int { core.queue.waitingCount.load(ordering: .relaxed) }
}
