/// A block that is sent to a loop, with its modes and its source location.
///
/// The struct fits into one ``Node``, so it needs no memory of its own.
struct BlockMessage {
    let body: () -> Void
    /// The modes in which the loop may run the block; nil for the common modes, empty for every mode.
    let modes: [Mode]?
    let origin: SourceLocation

    /// What the program loses if the block never runs, in words; nil for a block that the package performs for itself.
    ///
    /// A block without a line stands for a call of the program, and says which one.
    var loss: String? {
        let place = origin.description
        if origin.line == 0 { return place == SourceLocation.ownWork.description ? nil : place }
        return modes?.isEmpty == true ? nil : "block performed at \(place)"
    }
}

/// The blocks, parcels (``Parcel``) and jobs of Swift concurrency that a loop has received but not yet run, oldest first.
///
/// Blocks that name their modes wait in the lines of these modes; see ``ModeBlocks``. All others are for the common modes. A block
/// that may not run in the current mode stays where it is, at no cost. So the blocks of one sender keep their order in every mode
/// that runs them.
struct BlockQueue {
    /// The blocks, parcels and jobs for the common modes.
    private var queued = NodeList()
    private var inModes = ModeBlocks()
    /// The actors' jobs that were found while another one was on the stack, and the blocks that ``nextJob()`` has passed over.
    private var setAside = NodeList()

    /// The number of nodes that were ever appended to ``queued``.
    private var queuedTotal = 0
    /// True if the current mode is common.
    private var isCommon = false

    /// True while the loop is running an actor's job.
    ///
    /// Swift concurrency assumes that an actor's job never runs inside another actor's job. So if a job runs the loop, the inner
    /// run sets the jobs of actors aside.
    private var isInsideJob = false

    /// The end of the part of the queue that a step of a pass serves.
    ///
    /// When a step begins, it reads ``end``. Blocks that arrive meanwhile are left for the next step. If a block runs the loop, that
    /// inner run takes blocks out of the same queue, and so brings the outer step nearer to its end.
    struct End {
        fileprivate let queued: Int
        fileprivate let inModes: UInt64
    }

    /// The place of the next node to serve.
    enum Place {
        case queued
        case inModes(ModeBlocks.Place)
    }

    /// True if the queue contains no node, whatever its mode, apart from the jobs that were set aside.
    var isEmpty: Bool { @inline(__always) get { queued.isEmpty && inModes.count == 0 } }

    /// True if the queue contains a node that may run in the current mode.
    var holdsNext: Bool { @inline(__always) get { !queued.isEmpty && isCommon || inModes.holdsServed } }

    /// The end of the nodes that are queued now.
    var end: End { @inline(__always) get { End(queued: queuedTotal, inModes: inModes.next) } }

    /// The number of entries of the lines of modes that were looked at, for tests.
    var looks: Int { inModes.looks }

    @inline(__always)
    mutating func append(_ node: Node) {
        switch node.kind {
        case .blockInModes, .parcelInModes: inModes.append(node, behind: queuedTotal)
        case .block, .parcel, .job, .preferredJob:
            queuedTotal &+= 1
            queued.append(node)
        case .signal, .control: preconditionFailure("a block queue holds blocks, parcels and jobs only")
        }
    }

    /// Changes the mode in which blocks run; nil between runs.
    mutating func serve(_ mode: Mode?, isCommon: Bool) {
        self.isCommon = mode != nil && isCommon
        inModes.serve(mode, isCommon: isCommon)
    }

    /// Returns the place of the next node that may run in the current mode; nil if there is none before an end.
    @inline(__always)
    mutating func next(before end: End) -> Place? {
        if isInsideJob { setJobsAside() }
        if inModes.holdsServed { return nextOfBoth(before: end) }
        return mayServeQueued(before: end) ? .queued : nil
    }

    @inline(__always)
    private func mayServeQueued(before end: End) -> Bool {
        isCommon && !queued.isEmpty && firstQueued < end.queued
    }

    /// The number of nodes that arrived before the first node of ``queued``.
    private var firstQueued: Int { queuedTotal &- queued.count }

    @inline(never)
    private mutating func nextOfBoth(before end: End) -> Place? {
        if let place = inModes.first(), place.number < end.inModes,
            !isCommon || queued.isEmpty || place.behind <= firstQueued
        {
            return .inModes(place)
        }
        return mayServeQueued(before: end) ? .queued : nil
    }

    /// Removes and returns the node at a place.
    @inline(__always)
    mutating func take(_ place: Place) -> Node {
        switch place {
        case .queued:
            guard let node = queued.popFirst() else { preconditionFailure("a place is used at once") }
            return node
        case .inModes(let place): return inModes.take(place)
        }
    }

    /// Removes and returns the node with the next job, regardless of the modes in which the job may run.
    ///
    /// The loop calls this when it ends. Blocks and parcels that precede the job in the queue are set aside.
    mutating func nextJob() -> Node? {
        mergeModes()
        while let node = queued.popFirst() {
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
        takeBack()
    }

    /// Sets the jobs of actors aside that are at the front of the queue, because one is on the stack.
    private mutating func setJobsAside() {
        while let node = queued.first, node.kind == .job {
            queued.removeFirst()
            setAside.append(node)
        }
    }

    /// Moves everything that was set aside to the front of the queue.
    mutating func takeBack() {
        if setAside.isEmpty { return }
        var all = setAside.removeAll()
        all.append(queued)
        queued = all
    }

    /// True if the queue contains a block, parcel or job that may run in a mode.
    ///
    /// Jobs that were set aside do not count.
    mutating func holdsBlock(for mode: Mode, isCommon: Bool) -> Bool {
        if isInsideJob { setJobsAside() }
        return isCommon && !queued.isEmpty || inModes.holdsBlock(for: mode, isCommon: isCommon)
    }

    /// Removes and returns all nodes, oldest first.
    mutating func removeAll() -> NodeList {
        takeBack()
        mergeModes()
        return queued.removeAll()
    }

    /// Moves the blocks that name their modes into ``queued``, in the order in which all nodes arrived, because no run follows.
    private mutating func mergeModes() {
        let count = inModes.count
        if count == 0 { return }
        var all = NodeList()
        for (node, behind) in inModes.removeAll() {
            while !queued.isEmpty, firstQueued < behind, let earlier = queued.popFirst() {
                all.append(earlier)
            }
            all.append(node)
        }
        all.append(queued)
        queued = all
        // Blocks that arrive later are behind the moved ones, too.
        queuedTotal &+= count
    }
}

extension Node {
    /// Calls a function with the block message in the node, without moving the message out of the node.
    func withBlock<Result>(_ body: (borrowing BlockMessage) -> Result) -> Result {
        // Safe: the owner of a node of this kind has stored a block in it, and a block fits inline.
        unsafe body((address + Node.payloadOffset).assumingMemoryBound(to: BlockMessage.self).pointee)
    }
}
