internal import RunLoops

/// Makes loops of ours.
enum LoopMaking {
    /// Makes the calling thread's loop, and lets it serve a block in one pass.
    static func make() {
        var wasServed = false
        withUnsafeMutablePointer(to: &wasServed) { flag in
            // Safe because the run below performs the block on this thread, before `flag` goes.
            nonisolated(unsafe) let flag = flag
            RunLoop.current.perform { flag.pointee = true }
            RunLoop.current.run(until: .now)
        }
        precondition(wasServed, "a loop serves what it was given before it ran")
    }
}
