/// The number of nested runs of a loop, and the requests to the loop that have not yet taken effect.
struct RunStack {
    /// The number of nested runs that have not returned.
    var depth = 0

    /// The requests that have not yet taken effect: for a stop, a wake-up or the end of all runs.
    var requests = LoopHandle.Requests()

    /// Removes a request to stop the innermost run, but keeps a request to end all runs.
    ///
    /// - Returns: True if the innermost run is to end.
    mutating func takeStop() -> Bool {
        if requests.contains(.end) { return true }
        return requests.remove(.stop) != nil
    }
}
