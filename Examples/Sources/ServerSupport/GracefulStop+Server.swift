import Glibc
public import RunLoops

extension GracefulStop {
    /// Stops a server gracefully on `SIGTERM` or `SIGINT`, on the loop of this thread, and tells the service manager.
    ///
    /// If the server has not finished in time, or if a second signal arrives, the end is logged and the process exits with 1.
    ///
    /// - Parameters:
    ///   - time: The time that the server has to finish.
    ///   - begin: Called once. The closure stops accepting, and calls `finish()` when all connections have ended.
    /// - Returns: The stop, which the loop holds.
    /// - Throws: An error if other code handles the signals, or the kernel refuses.
    @discardableResult
    public static func serving(
        finishingWithin time: Duration, begin: @escaping (GracefulStop) -> Void
    ) throws -> GracefulStop {
        let stop = try GracefulStop(within: time) { stop in
            ServiceManager.notify("STOPPING=1")
            begin(stop)
        }
        stop.onForcedEnd { _, end in
            switch end {
            case .timedOut: log("stopped with open connections: the time is over")
            case .signal: log("stopped at once by a second signal")
            @unknown default: log("stopped at once")
            }
            exit(1)
        }
        try RunLoop.current.add(stop, forMode: .common)
        return stop
    }
}
