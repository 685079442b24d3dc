internal import CForking
internal import Glibc

/// A child process of a test.
public struct Child: Sendable {
    /// The process ID of the child.
    public let processID: CInt

    /// The ways in which a child ends.
    public enum Ending: Hashable, Sendable {
        /// The child exited with this code.
        case exited(CInt)
        /// This signal ended the child.
        case killed(CInt)
        /// Other code has reaped the child.
        case unknown
    }

    private init(processID: CInt) {
        precondition(processID > 0, "a test may make processes")
        self.processID = processID
    }

    /// Forks the process of the test.
    ///
    /// If other threads run, the call waits until they sleep, so that none of them holds a lock of Swift's runtime. A lock that a
    /// sleeping thread holds stays held.
    ///
    /// - Parameters:
    ///   - whileOthersRun: True for no such wait. Then everything that the child does was done before, so that the runtime has
    ///     nothing to prepare.
    ///   - body: The closure that the child runs on its only thread, and whose result is the exit code. `SIGALRM` ends a child that
    ///     hangs.
    public init(whileOthersRun: Bool = false, _ body: () -> CInt) {
        if !whileOthersRun { forking_await_sleep() }
        guard let child = Child.fork() else {
            Child.endThisIfItHangs()
            forking_exit(body())
        }
        self = child
    }

    /// True if a child of this process can change its user, which an administrator's child can if there are other users.
    public static let canChangeUser = geteuid() == 0 && Child { setuid(65_534) }.wait() == .exited(0)

    /// Starts a shell.
    ///
    /// - Parameters:
    ///   - command: The command.
    ///   - inheritsMask: True if the shell blocks the signals that this thread blocks. The threads of the pool on which tests run,
    ///     and the threads that they start, block nearly all signals.
    public init(shell command: String, inheritsMask: Bool = false) {
        // Safe: the function only reads the string.
        self.init(processID: unsafe forking_spawn(command, inheritsMask))
    }

    /// Forks the process of the test, and returns in both processes.
    ///
    /// - Returns: The child, or nil in the child.
    public static func fork() -> Child? {
        let processID = forking_fork()
        return processID == 0 ? nil : Child(processID: processID)
    }

    /// Makes `SIGALRM` end this process if it hangs.
    ///
    /// - Parameter seconds: The time after which the signal is sent.
    public static func endThisIfItHangs(seconds: Int = 60) { forking_end_after(CUnsignedInt(seconds)) }

    /// Replaces this process by a shell.
    ///
    /// - Parameter command: The command.
    public static func exec(_ command: String) -> Never {
        // Safe: the function only reads the string.
        unsafe forking_exec(command)
    }

    /// Ends the calling thread, and the process if this was its last thread.
    public static func endThread() -> Never { forking_end_thread() }

    /// Waits until the child has ended, and reaps it.
    ///
    /// - Returns: The ending of the child.
    @discardableResult
    public func wait() -> Ending {
        let status = forking_wait(processID)
        if status < 0 { return .unknown }
        return status >= 1_000 ? .killed(status - 1_000) : .exited(status)
    }
}
