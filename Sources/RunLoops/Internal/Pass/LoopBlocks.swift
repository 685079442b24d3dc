/// The blocks, parcels and jobs of one loop.
///
/// It owns the queue of those that were taken in and have not run, the jobs on the stack, and the waits of other threads for
/// blocks on the stack.
///
/// > Thread safety: the loop's own thread only.
final class LoopBlocks {
    private let members: LoopMembers
    private let executors: Executors

    /// Looked at in each pass: without the checks that a class's properties cost, which ``ExclusivityUnchecked`` argues.
    private let confined = ExclusivityUnchecked(BlockQueue())

    /// The blocks on the stack that other threads wait for.
    let waits = WaitStack()

    /// The number of jobs of tasks on the stack.
    private var jobsOnStack = 0

    init(_ members: LoopMembers, _ executors: Executors) {
        self.members = members
        self.executors = executors
    }

    private var queue: BlockQueue {
        @inline(__always) _read { yield confined.value }
        @inline(__always) _modify { yield &confined.value }
    }

    /// True if nothing is in line; what was put aside for another mode does not count.
    var isEmpty: Bool { @inline(__always) get { queue.isEmpty } }

    /// Puts a block, a parcel or a job in line.
    @inline(__always)
    func append(_ node: Node) { queue.append(node) }

    /// True if a block in line is for this mode.
    func holdsBlock(for mode: RunLoop.Mode, isCommon: Bool) -> Bool {
        queue.holdsBlock(for: mode, isCommon: isCommon)
    }

    /// Puts back in line what was put aside: another mode runs, or the common modes are others.
    func modesDidChange() { queue.modeDidChange() }

    // MARK: - Running

    /// Runs the blocks, parcels and jobs for the current mode that were there when the step began, as far as the budget goes.
    @inline(__always)
    func perform(_ budget: inout Budget) { if !queue.isEmpty { performQueued(&budget) } }

    private func performQueued(_ budget: inout Budget) {
        let end = queue.end
        var releaser = NodeReleaser()
        // The mode is read for each block: runs inside a block put it back.
        while queue.examined < end, budget.spend(),
            let node = queue.next(in: members.currentMode, isCommon: members.modeIsCommon, before: end)
        {
            // Before the call: the receiver of a block's answer finds the block counted.
            members.handle.counters.messages.add()
            switch node.kind {
            case .parcel, .parcelInModes:
                members.handlers.call(.delivery, as: .delivery) {
                    node.endParcel(hasArrived: true, &releaser)
                }
            case .job, .preferredJob:
                let job = node.takeJob(&releaser)
                members.handlers.call(.job, as: .job) { run(job) }
            case .block, .blockInModes:
                let message = node.move(BlockMessage.self)
                releaser.release(node)
                members.handlers.call(message.origin, message.body)
            case .signal, .control: preconditionFailure("a block queue holds blocks, parcels and jobs only")
            }
        }
    }

    /// Runs a job until its task suspends, ends, or goes on elsewhere.
    private func run(_ job: LoopJob) {
        jobsOnStack += 1
        // On exactly the executor that it was enqueued on. Told of both, Swift would go through the loop again for each
        // call of a nonisolated function, or for each from one actor of the loop to another.
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

    /// Ends the program if the thread ends in the middle of a job: no code can end its task, or tell those that await it.
    func requireNoJobOnStack() {
        if jobsOnStack > 0 {
            misuse(
                "RunLoop: its thread was ended inside a job of an actor or a task, which never ends then for whoever awaits it; let the job return, and end the thread in a block"
            )
        }
    }

    /// Runs the jobs that actors have left, and sends tasks that only prefer the loop elsewhere: the thread ends.
    ///
    /// A job cannot be destroyed: its task would never end, nor would those that wait for it. Jobs that are enqueued meanwhile
    /// are run too. Preferring tasks are not run: one that yields again and again would keep the thread from ending.
    ///
    /// - Parameter takeMail: Takes in what other threads have sent.
    func runLastJobs(_ takeMail: () -> Void) {
        queue.modeDidChange()
        takeMail()
        var releaser = NodeReleaser()
        while let node = queue.nextJob() {
            let job = node.takeJob(&releaser)
            if job.isPreferred {
                RunLoop.TaskExecutor.enqueueElsewhere(job.job)
            } else {
                run(job)
            }
            takeMail()
        }
    }

    /// Destroys the messages in line, and then other ones; keeps the jobs among them.
    func discardAll(and mail: NodeList) {
        // Oldest first, as they would have been served.
        discard(queue.removeAll())
        discard(mail)
    }

    private func discard(_ list: NodeList) {
        var nodes = list
        var releaser = NodeReleaser()
        while let node = nodes.popFirst() {
            switch node.kind {
            case .job, .preferredJob: queue.append(node)
            case .block, .blockInModes:
                _ = node.move(BlockMessage.self)
                releaser.release(node)
            case .parcel, .parcelInModes: node.endParcel(hasArrived: false, &releaser)
            case .signal: _ = ReadyNode.takeRetained(node)
            case .control: break
            }
        }
    }
}
