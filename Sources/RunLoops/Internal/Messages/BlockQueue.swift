/// A block that is sent to a loop, with its modes and its source location.
///
/// The struct fits into a node.
struct BlockMessage {
    let body: () -> Void
    /// The modes in which the block is allowed to run; nil for the common modes, empty for every mode.
    let modes: [RunLoop.Mode]?
    let origin: SourceLocation
}

/// The blocks, parcels and jobs that a loop has taken in and not yet run, in the order in which they arrived.
///
/// A block whose modes are not running is set aside, and is put back at the front of the queue as soon as the mode changes. So the
/// blocks of one sender keep their order in every mode that runs them. Jobs run in the common modes.
struct BlockQueue {
    private var queued = NodeList()
    private var setAside = NodeList()

    /// True while an actor's job is on the stack.
    ///
    /// Actors assume that no other job of an actor runs inside this job. So if the job runs the loop, that run sets the other jobs
    /// aside.
    private var isInsideJob = false
    /// True if a job was set aside because an actor's job is on the stack.
    private var holdsJobsBack = false

    /// The total number of blocks, parcels and jobs that were examined.
    ///
    /// A step of a pass examines the queued blocks in order, until this count reaches the ``end`` that the step has read at its
    /// beginning. A step of a run inside a block advances the same count. For example, three blocks wait while the count is 0, so
    /// a step ends at 3. If the first block runs the loop, and that run serves the other two blocks, the count is 3 when the first
    /// block returns, so the outer step is over. Blocks that have arrived in the meantime are served in the next step.
    private(set) var examined = 0

    var isEmpty: Bool { queued.isEmpty }

    /// The value that ``examined`` has when all blocks that are queued now have been examined.
    var end: Int { examined + queued.count }

    mutating func append(_ node: Node) { queued.append(node) }

    /// Removes and returns the node with the next block for a mode.
    ///
    /// - Parameters:
    ///   - mode: The mode. It is read only if a block names its modes, because copying a name costs some 50 instructions.
    ///   - isCommon: True if the mode is common.
    ///   - end: The value of ``examined`` at which the step ends.
    /// - Returns: The node; nil if ``examined`` has reached `end` and no such node was found.
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

    /// Returns the node with the next job, for any mode.
    ///
    /// The loop calls this when it ends. The blocks before the job are set aside.
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

    /// Records that the job has returned, and puts the other jobs back into the queue.
    mutating func jobEnds() {
        isInsideJob = false
        if holdsJobsBack { modeDidChange() }
    }

    /// True if a block waits for this mode.
    ///
    /// This examines the blocks that have not been set aside.
    func holdsBlock(for mode: RunLoop.Mode, isCommon: Bool) -> Bool {
        var node = queued.first
        while let candidate = node {
            if matches(candidate, mode, isCommon) { return true }
            node = candidate.next
        }
        return false
    }

    /// Puts the blocks that were set aside back into the queue, for example because the current mode or the common modes have
    /// changed.
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
    /// Reads a block without moving it out of its node.
    func withBlock<Result>(_ body: (borrowing BlockMessage) -> Result) -> Result {
        // Safe: the owner of a node of this kind has stored a block in it, and a block fits inline.
        unsafe body((address + Node.payloadOffset).assumingMemoryBound(to: BlockMessage.self).pointee)
    }
}
