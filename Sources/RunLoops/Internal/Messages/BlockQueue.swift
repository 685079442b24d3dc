/// A block that is sent to a loop, with its modes and its source location.
///
/// The struct fits into one ``Node``, so it needs no memory of its own.
struct BlockMessage {
    let body: () -> Void
    /// The modes in which the loop may run the block; nil for the common modes, empty for every mode.
    let modes: [RunLoop.Mode]?
    let origin: SourceLocation
}

/// The blocks, parcels (``Parcel``) and jobs of Swift concurrency that a loop has received but not yet run, oldest first.
///
/// A block that may not run in the current mode is set aside. As soon as the mode changes, it returns to the front of the queue. So
/// the blocks of one sender keep their order in every mode that runs them. Jobs run in the common modes.
struct BlockQueue {
    private var queued = NodeList()
    private var setAside = NodeList()

    /// True while the loop is running an actor's job.
    ///
    /// Swift concurrency assumes that an actor's job never runs inside another actor's job. So if a job runs the loop, the inner
    /// run sets the jobs of actors aside.
    private var isInsideJob = false
    /// True if an actor's job was set aside because another one is running.
    private var holdsJobsBack = false

    /// The number of blocks, parcels and jobs that the loop has looked at since the queue was made.
    ///
    /// When a step of a pass serves blocks, it first reads ``end``. It then looks at the queued blocks in order, until this count
    /// has reached the value that was read. So blocks that arrive meanwhile are left for the next step.
    ///
    /// If a block runs the loop, that inner run advances the same count. For example, three blocks wait while the count is 0, so
    /// the step ends at 3. The first block runs the loop, and the inner run serves the other two blocks. When the first block
    /// returns, the count is 3, so the step is over.
    private(set) var examined = 0

    var isEmpty: Bool { queued.isEmpty }

    /// The value that ``examined`` reaches when the loop has looked at every block that is queued now.
    var end: Int { examined + queued.count }

    mutating func append(_ node: Node) { queued.append(node) }

    /// Removes and returns the next node whose block, parcel or job may run in a mode.
    ///
    /// - Parameters:
    ///   - mode: The mode. The argument is evaluated only for a block that names its modes, because copying a mode's name costs
    ///     some 50 instructions.
    ///   - isCommon: True if the mode is common.
    ///   - end: The value of ``examined`` at which the search stops.
    /// - Returns: The node; nil if the search has found none.
    @inline(__always)
    mutating func next(
        in mode: @autoclosure () -> RunLoop.Mode?, isCommon: Bool, before end: Int
    ) -> Node? {
        while examined < end, let node = queued.popFirst() {
            examined += 1
            if matches(node, mode(), isCommon) { return node }
            if isInsideJob && node.kind == .job { holdsJobsBack = true }
            setAside.append(node)
        }
        return nil
    }

    /// Removes and returns the node with the next job, regardless of the modes in which the job may run.
    ///
    /// The loop calls this when it ends. Blocks and parcels that precede the job in the queue are set aside.
    mutating func nextJob() -> Node? {
        while let node = queued.popFirst() {
            examined += 1
            if node.isJob { return node }
            setAside.append(node)
        }
        return nil
    }

    /// Records that an actor's job is about to run.
    mutating func jobBegins() {
        precondition(!isInsideJob, "an actor's job waits until the one on the stack has returned")
        isInsideJob = true
    }

    /// Records that the actor's job has returned, and puts the jobs that were set aside meanwhile back into the queue.
    mutating func jobEnds() {
        isInsideJob = false
        if holdsJobsBack { modeDidChange() }
    }

    /// True if the queue contains a block, parcel or job that may run in a mode.
    ///
    /// Blocks that were set aside do not count.
    func holdsBlock(for mode: RunLoop.Mode, isCommon: Bool) -> Bool {
        var node = queued.first
        while let candidate = node {
            if matches(candidate, mode, isCommon) { return true }
            node = candidate.next
        }
        return false
    }

    /// Moves everything that was set aside to the front of the queue.
    ///
    /// The loop calls this, for example, when its mode or the set of common modes has changed.
    mutating func modeDidChange() {
        var all = setAside.removeAll()
        all.append(queued)
        queued = all
        holdsJobsBack = false
    }

    mutating func removeAll() -> NodeList {
        modeDidChange()
        return queued.removeAll()
    }

    @inline(__always)
    private func matches(
        _ node: Node, _ mode: @autoclosure () -> RunLoop.Mode?, _ isCommon: Bool
    ) -> Bool {
        switch node.kind {
        case .block, .parcel, .preferredJob: isCommon
        case .job: isCommon && !isInsideJob
        case .blockInModes: node.withBlock { matches($0.modes, mode(), isCommon) }
        case .parcelInModes: node.withParcel { matches($0.modes, mode(), isCommon) }
        case .signal, .control: preconditionFailure("a block queue holds blocks, parcels and jobs only")
        }
    }

    private func matches(_ modes: [RunLoop.Mode]?, _ mode: RunLoop.Mode?, _ isCommon: Bool) -> Bool {
        guard let modes else { return isCommon }
        return modes.isEmpty || modes.contains { $0 == mode || isCommon && $0 == .common }
    }
}

extension Node {
    /// Calls a function with the block message in the node, without moving the message out of the node.
    func withBlock<Result>(_ body: (borrowing BlockMessage) -> Result) -> Result {
        // Safe: the owner of a node of this kind has stored a block in it, and a block fits inline.
        unsafe body((address + Node.payloadOffset).assumingMemoryBound(to: BlockMessage.self).pointee)
    }
}
