/// The runs of a loop that are on the stack, and the requests for them that have not yet taken effect.
struct RunStack {
    /// The number of runs on the stack.
    var depth = 0

    /// A stop, a wake-up or the end of all runs, that was asked for and has not yet taken effect.
    var requests = LoopHandle.Requests()

    /// Takes a stop of the innermost run, and leaves the end of all runs.
    ///
    /// - Returns: True if the innermost run is to end.
    mutating func takeStop() -> Bool {
        if requests.contains(.end) { return true }
        return requests.remove(.stop) != nil
    }
}
