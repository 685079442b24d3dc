import Glibc
public import RunLoops

/// Loops that have nothing to do.
public enum Rest {
    /// Waits until loops have made no pass and no system call for two seconds.
    ///
    /// - Parameter loops: The loops, whose threads wait in the kernel.
    /// - Returns: False if that is not so after a minute.
    public static func comes(to loops: [RunLoop]) -> Bool {
        func counts() -> [Int] { loops.flatMap { [$0.statistics.passes, $0.statistics.kernelCalls] } }
        let deadline = ContinuousClock.now + .seconds(60)
        while ContinuousClock.now < deadline {
            let before = counts()
            usleep(2_000_000)
            if counts() == before { return true }
        }
        return false
    }
}
