internal import Synchronization

// The state of a loop as any thread may read it, for health checks and metrics. Nothing here waits for the loop.

extension RunLoop {
    /// The loops of the process that have not ended, in the order in which they were made.
    ///
    /// They include the library's own, such as that of a watchdog.
    ///
    /// > Thread safety: any thread.
    public static var all: [RunLoop] {
        Fork.check("RunLoop.all")
        return LoopRegistry.loops
    }

    /// The number of times that other threads have given the loop work that it has not begun.
    ///
    /// Each block, job and delivery counts as one, in whatever mode, and so does each port or source that has become ready since
    /// the loop last looked; for the messages of a port see ``Port/count``. A number that grows is the sign of a loop that is
    /// blocked or overloaded. The number is read while the loop goes on, so it may be too high or too low by what happens at
    /// that moment. Zero for a loop that has ended.
    ///
    /// > Thread safety: any thread.
    public var pendingCount: Int {
        // The count of blocks that were run is read first, so that a block that moves on meanwhile is counted once or twice, but not missed.
        let run = handle.counters.blocks.value
        let blocks = handle.counters.takenBlocks.value
        let nodes = handle.counters.takenNodes.value
        let word = handle.mailbox.current
        if word.isClosed { return 0 }
        let untaken = (word.sequence &- UInt64(truncatingIfNeeded: nodes)) & Mailbox.Word.roomMask
        return max(0, blocks - run) + Int(untaken)
    }

    /// The processor time that the loop's thread has taken, handlers and spins included.
    ///
    /// The kernel counts it; it costs the loop nothing. Zero if the main thread has not used its loop. For a loop that has ended,
    /// the time of its thread up to then.
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
    /// Messages of senders that wait for room are not among them, nor are the replies of send-once rights. A port of signals has
    /// one or none. The number is read while other threads go on, so it may be outdated at once; without a limit, it starts
    /// again at zero from 2²⁰ on.
    ///
    /// > Thread safety: any thread.
    public var count: Int { core.messageCount }

    /// The number of senders that wait for room, threads and tasks.
    ///
    /// > Thread safety: any thread.
    public var waitingSenderCount: Int { core.queue.waitingCount.load(ordering: .relaxed) }
}
