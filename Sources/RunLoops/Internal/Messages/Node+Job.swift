extension Node {
    /// True if the node carries a job of Swift concurrency.
    var isJob: Bool {
        switch kind {
        case .job, .preferredJob: true
        case .block, .blockInModes, .parcel, .parcelInModes, .signal, .control: false
        }
    }

    /// Moves the job out of the node, and releases the node.
    func takeJob(_ releaser: inout NodeReleaser) -> LoopJob {
        let job = LoopJob(job: move(UnownedJob.self), isPreferred: kind == .preferredJob)
        releaser.release(self)
        return job
    }

    /// Makes a node that carries a job.
    @inline(__always)
    static func makeJob(_ job: UnownedJob, _ kind: Kind) -> Node {
        let node = SlabCache.takeNode()
        node.kind = kind
        node.store(job)
        return node
    }
}

/// A job of Swift concurrency, which the loop must either run or pass on to another executor, exactly once.
struct LoopJob {
    let job: UnownedJob
    /// True if the job belongs to a task that prefers the loop as its executor, false if it belongs to an actor on the loop.
    let isPreferred: Bool
}
