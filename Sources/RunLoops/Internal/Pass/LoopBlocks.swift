/// The blocks, parcels (``Parcel``) and jobs of Swift concurrency that were sent to one loop.
///
/// This object owns three things: the queue of blocks, parcels and jobs that have not run yet; the number of running jobs; and the
/// record of threads and tasks that wait for running blocks.
///
/// > Thread safety: the loop's own thread only.
final class LoopBlocks {
    private let members: LoopMembers
    private let executors: Executors

    /// The queue is stored without exclusivity checks because each pass reads it; see ``ExclusivityUnchecked``.
    #if !CHECKS_EXCLUSIVITY
        @safe @exclusivity(unchecked)
    #endif
    private var confined = BlockQueue()

    /// The stack of running blocks that other threads or tasks wait for.
    let waits = WaitStack()

    /// The number of jobs of actors and tasks on the thread's stack.
    private var jobsOnStack = 0

    init(_ members: LoopMembers, _ executors: Executors) {
        self.members = members
        self.executors = executors
    }

    private var queue: BlockQueue {
        @inline(__always) _read { yield confined }
        @inline(__always) _modify { yield &confined }
    }

    /// True if no block, parcel or job waits in any mode.
    var isEmpty: Bool { queue.isEmpty }

    /// True if a block, parcel or job waits that may run in the current mode.
    var holdsNext: Bool { @inline(__always) get { queue.holdsNext } }

    /// Appends a block, a parcel or a job that came from the mailbox.
    ///
    /// The caller adds it to the count of queued blocks.
    @inline(__always)
    func append(_ node: Node) { queue.append(node) }

    /// Appends a block, a parcel or a job of the loop's own thread, and counts it.
    ///
    /// Such a node does not come through the mailbox.
    @inline(__always)
    func appendHere(_ node: Node) {
        members.handle.counters.takenBlocks.add()
        queue.append(node)
    }

    /// Returns true if the queue contains a block, parcel or job that may run in a mode.
    func holdsBlock(for mode: Mode, isCommon: Bool) -> Bool {
        queue.holdsBlock(for: mode, isCommon: isCommon)
    }

    /// Updates the queue after the running mode or the set of common modes has changed.
    func modesDidChange() { queue.serve(members.currentMode, isCommon: members.modeIsCommon) }

    // MARK: - Running

    /// Runs the blocks, parcels and jobs that are queued now and may run in the current mode, as long as the budget lasts.
    @inline(__always)
    func perform(_ budget: inout Budget) { if queue.holdsNext { performQueued(&budget) } }

    private func performQueued(_ budget: inout Budget) {
        let end = queue.end
        var releaser = NodeReleaser()
        members.handlers.beginMessages()
        while let place = queue.next(before: end), budget.spend() {
            let node = queue.take(place)
            // The block is counted before the call, so that a thread that receives the block's answer finds the block counted.
            members.handle.counters.blocks.add()
            switch node.kind {
            case .parcel, .parcelInModes:
                members.handlers.callForMessage(.delivery, as: .delivery, node) {
                    node.endParcel(hasArrived: true, &releaser)
                }
            case .job, .preferredJob:
                let job = node.takeJob(&releaser)
                members.handlers.callForMessage(.job, as: .job, node) { run(job) }
            case .block, .blockInModes:
                // The node stays valid until the releaser is flushed, which happens after the call.
                releaser.release(node)
                members.handlers.callForMessage(node.withBlock { $0.origin }, as: .block, node) {
                    // The objects that the block holds are released inside this call, so that the time of their destruction counts
                    // as the handler's time.
                    node.move(BlockMessage.self).body()
                }
            case .signal, .control: preconditionFailure("a block queue holds blocks, parcels and jobs only")
            }
        }
    }

    /// Runs a job until its task suspends, ends, or continues on another executor.
    private func run(_ job: LoopJob) {
        jobsOnStack += 1
        // The job runs on exactly the executor that it was enqueued on. If Swift knew both executors, it would enqueue the job
        // again for each call of a nonisolated function, or for each call from one actor of the loop to another.
        if job.isPreferred {
            unsafe job.job.runSynchronously(on: executors.task)
        } else {
            queue.jobBegins()
            unsafe job.job.runSynchronously(on: executors.serial)
            queue.jobEnds()
        }
        jobsOnStack -= 1
    }

    // MARK: - End

    /// Ends the program with a message if the thread ends while the loop is running a job.
    ///
    /// No code could then end the job's task, or resume the tasks that await it.
    func requireNoJobOnStack() {
        if jobsOnStack > 0 {
            misuse(
                "RunLoop: its thread was ended inside a job of an actor or a task, so code that awaits the job would wait forever; let the job return, and end the thread in a block"
            )
        }
    }

    /// Runs the remaining jobs of actors; jobs of tasks that only prefer the loop are enqueued on the default executor.
    ///
    /// The loop calls this when its thread ends. Jobs that are enqueued during the call are treated in the same way. No job is
    /// destroyed, because its task would then never end, and neither would the tasks that await its task.
    ///
    /// The other jobs belong to tasks that only prefer the loop as their executor. If such a task continued on this loop, it could
    /// yield again and again, and so keep the thread from ending.
    ///
    /// - Parameter takeMail: A function that moves the nodes in the mailbox into the queue.
    func runLastJobs(_ takeMail: () -> Void) {
        queue.takeBack()
        takeMail()
        var releaser = NodeReleaser()
        while let node = queue.nextJob() {
            let job = node.takeJob(&releaser)
            if job.isPreferred {
                Executors.enqueueElsewhere(job.job)
            } else {
                run(job)
            }
            takeMail()
        }
    }

    /// Destroys the queued blocks and parcels, then the messages in `mail`, but puts all jobs back into the queue.
    ///
    /// - Parameters:
    ///   - mail: The messages.
    ///   - note: Called before a block is destroyed with what the program loses, in words.
    func discardAll(and mail: NodeList, noting note: (String) -> Void) {
        // The messages are destroyed oldest first, in the order in which they would have been served.
        discard(queue.removeAll(), note)
        discard(mail, note)
    }

    private func discard(_ list: NodeList, _ note: (String) -> Void) {
        var nodes = list
        var releaser = NodeReleaser()
        while let node = nodes.popFirst() {
            switch node.kind {
            case .job, .preferredJob: queue.append(node)
            case .block, .blockInModes:
                node.withBlock { if let loss = $0.loss { note(loss) } }
                _ = node.move(BlockMessage.self)
                releaser.release(node)
            case .parcel, .parcelInModes: node.endParcel(hasArrived: false, &releaser)
            case .signal: _ = ReadyNode.takeRetained(node)
            case .control: break
            }
        }
    }
}
