/// A block on its way to a loop, and what it was given with.
///
/// It fits into a node.
struct BlockMessage {
    let body: () -> Void
    /// Nil for the common modes, empty for every mode.
    let modes: [RunLoop.Mode]?
    let origin: SourceLocation
}

/// The performed blocks, the parcels and the jobs that a loop has taken in and not yet run, in the order in which they came.
///
/// A block whose modes are not running is put aside, and is put back in front as soon as the mode changes:
/// so blocks of one sender keep their order in every mode that runs them. Jobs are for the common modes.
struct BlockQueue {
    private var queued = NodeList()
    private var setAside = NodeList()

    /// Whether an actor's job is on the stack.
    ///
    /// Then no other one may run: actors rely on it. A run inside the job puts them aside.
    private var isInsideJob = false
    /// Whether a job was put aside for that reason.
    private var holdsJobsBack = false

    /// How many blocks have ever been looked at: the end of a sweep is a number on this count, which nested
    /// sweeps move on too.
    ///
    /// With three in line a sweep ends at 3. If the first one runs the loop, and that serves the other two, the count is at 3,
    /// and what has come meanwhile is left to the next sweep.
    private(set) var examined = 0

    var isEmpty: Bool { queued.isEmpty }

    /// The count at which a sweep that begins now has seen all that is there.
    var end: Int { examined + queued.count }

    mutating func append(_ node: Node) { queued.append(node) }

    /// The next block for a mode, with its node; nil when there is none before `end`.
    mutating func next(in mode: RunLoop.Mode, isCommon: Bool, before end: Int) -> Node? {
        while examined < end, let node = queued.popFirst() {
            examined += 1
            if matches(node, mode, isCommon) { return node }
            if isInsideJob && node.kind == .job { holdsJobsBack = true }
            setAside.append(node)
        }
        return nil
    }

    /// The next job, whatever mode runs, with its node.
    ///
    /// For a loop that ends: what comes before the job is put aside.
    mutating func nextJob() -> Node? {
        while let node = queued.popFirst() {
            examined += 1
            if node.isJob { return node }
            setAside.append(node)
        }
        return nil
    }

    /// An actor's job is about to be run.
    mutating func jobBegins() {
        precondition(!isInsideJob, "an actor's job waits until the one on the stack has returned")
        isInsideJob = true
    }

    /// It has returned: the others are in line again.
    mutating func jobEnds() {
        isInsideJob = false
        if holdsJobsBack { modeDidChange() }
    }

    /// Whether a block waits for this mode.
    ///
    /// Looks at those not yet put aside.
    func holdsBlock(for mode: RunLoop.Mode, isCommon: Bool) -> Bool {
        var node = queued.first
        while let candidate = node {
            if matches(candidate, mode, isCommon) { return true }
            node = candidate.next
        }
        return false
    }

    /// Looks at all blocks again: another mode runs, or the common modes are others.
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

    private func matches(_ node: Node, _ mode: RunLoop.Mode, _ isCommon: Bool) -> Bool {
        switch node.kind {
        case .block, .parcel, .preferredJob: isCommon
        case .job: isCommon && !isInsideJob
        case .blockInModes: node.withBlock { matches($0.modes, mode, isCommon) }
        case .parcelInModes: node.withParcel { matches($0.modes, mode, isCommon) }
        case .signal, .control: preconditionFailure("a block queue holds blocks, parcels and jobs only")
        }
    }

    private func matches(_ modes: [RunLoop.Mode]?, _ mode: RunLoop.Mode, _ isCommon: Bool) -> Bool {
        guard let modes else { return isCommon }
        return modes.isEmpty || modes.contains { $0 == mode || isCommon && $0 == .common }
    }
}

extension Node {
    /// Looks at a block without taking it out.
    func withBlock<Result>(_ body: (borrowing BlockMessage) -> Result) -> Result {
        // Safe: the owner of a node of this kind has stored a block in it, and a block fits inline.
        unsafe body((address + Node.payloadOffset).assumingMemoryBound(to: BlockMessage.self).pointee)
    }
}
