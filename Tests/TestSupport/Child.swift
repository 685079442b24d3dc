internal import CForking
internal import Glibc

/// A child process that a test has made.
public struct Child: Sendable {
    /// Its number.
    public let processID: CInt

    /// The end of a child.
    public enum Ending: Hashable, Sendable {
        /// With this exit code.
        case exited(CInt)
        /// By this signal.
        case killed(CInt)
        /// Other code has waited for it.
        case unknown
    }

    private init(processID: CInt) {
        precondition(processID > 0, "a test may make processes")
        self.processID = processID
    }

    /// Forks the test's process.
    ///
    /// - Parameter body: The closure that the child runs on its only thread; its result is the exit code. It does as little as
    ///   it can, unless the process has no other threads: their locks stay held. `SIGALRM` ends a child that hangs.
    public init(_ body: () -> CInt) {
        guard let child = Child.fork() else {
            Child.endThisIfItHangs()
            forking_exit(body())
        }
        self = child
    }

    /// True if a child of this process can become a process of another user: the administrator's can, if there are other users.
    public static let canChangeUser = geteuid() == 0 && Child { setuid(65_534) }.wait() == .exited(0)

    /// Starts a shell.
    ///
    /// - Parameters:
    ///   - command: The command.
    ///   - inheritsMask: True if it blocks the signals that this thread blocks. The threads of the pool that tests run on, and
    ///     those that they start, block nearly all signals.
    public init(shell command: String, inheritsMask: Bool = false) {
        // Safe: the function only reads the string.
        self.init(processID: unsafe forking_spawn(command, inheritsMask))
    }

    /// Forks the test's process, and returns twice.
    ///
    /// - Returns: The child, or nil in the child.
    public static func fork() -> Child? {
        let processID = forking_fork()
        return processID == 0 ? nil : Child(processID: processID)
    }

    /// Has this process ended by `SIGALRM` if it hangs.
    ///
    /// - Parameter seconds: After how long.
    public static func endThisIfItHangs(seconds: Int = 60) { forking_end_after(CUnsignedInt(seconds)) }

    /// Makes this process a shell.
    ///
    /// - Parameter command: The command.
    public static func exec(_ command: String) -> Never {
        // Safe: the function only reads the string.
        unsafe forking_exec(command)
    }

    /// Ends the calling thread, and the process if it was its last one.
    public static func endThread() -> Never { forking_end_thread() }

    /// Waits until the child has ended, and takes its status.
    ///
    /// - Returns: Its end.
    @discardableResult
    public func wait() -> Ending {
        let status = forking_wait(processID)
        if status < 0 { return .unknown }
        return status >= 1_000 ? .killed(status - 1_000) : .exited(status)
    }
}
