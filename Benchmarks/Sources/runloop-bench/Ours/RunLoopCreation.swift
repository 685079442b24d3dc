internal import RunLoops

/// The creation of a loop of this package.
enum RunLoopCreation {
    /// Makes the loop of the calling thread, which performs a block in one pass.
    static func make() {
        var wasServed = false
        withUnsafeMutablePointer(to: &wasServed) { flag in
            // Safe because the run below performs the block on this thread while `wasServed` exists.
            nonisolated(unsafe) let flag = flag
            RunLoop.current.perform { flag.pointee = true }
            RunLoop.current.run(until: .now)
        }
        precondition(wasServed, "a run performs the blocks that were given to the loop before")
    }
}
