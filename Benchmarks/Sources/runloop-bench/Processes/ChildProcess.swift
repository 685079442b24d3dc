internal import Glibc

/// A second process of this program, at the other end of a measurement.
///
/// The child serves on its main thread, and ends when this process closes its end of the connection.
final class ChildProcess {
    private let processID: pid_t

    /// The number of the descriptor that the child inherits, if any.
    static let descriptor: CInt = 3

    /// The error with which the system refused to start the process.
    struct Failure: Error {
        let code: CInt
    }

    /// Starts the process.
    ///
    /// - Parameters:
    ///   - arguments: The sub-command and its arguments.
    ///   - end: The descriptor that becomes ``descriptor`` of the process.
    /// - Throws: ``Failure`` if the system refuses.
    init(_ arguments: [String], end: CInt? = nil) throws {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        if let end { posix_spawn_file_actions_adddup2(&actions, end, Self.descriptor) }
        var words = (["runloop-bench"] + arguments).map { strdup($0) } + [nil]
        defer { for word in words { free(word) } }
        var started: pid_t = 0
        let code = posix_spawn(&started, "/proc/self/exe", &actions, nil, &words, environ)
        if code != 0 { throw Failure(code: code) }
        processID = started
    }

    /// The number of the child's main thread, which is also the process ID.
    var number: ThreadNumber { processID }

    /// Waits for the end of the process.
    func wait() {
        var status: CInt = 0
        while waitpid(processID, &status, 0) == -1 && errno == EINTR {}
    }
}

/// Processes that are always busy.
final class BusyProcesses {
    private let processes: [ChildProcess]
    /// The writing end of a pipe whose reading end all processes poll.
    ///
    /// The processes end when the writing end is closed.
    private let end: CInt

    /// Starts the processes, which are pinned to the processors in turn.
    ///
    /// - Parameters:
    ///   - count: The number of processes.
    ///   - processors: The processors.
    /// - Throws: The error of the system.
    init(_ count: Int, on processors: [Int32]) throws {
        var ends: [CInt] = [-1, -1]
        if pipe(&ends) != 0 { throw ChildProcess.Failure(code: errno) }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        defer { close(ends[0]) }
        end = ends[1]
        do {
            processes = try (0..<count).map { _ in try ChildProcess(["burn"], end: ends[0]) }
        } catch {
            close(ends[1])
            throw error
        }
        for (index, process) in processes.enumerated() {
            process.number.pin(to: [processors[index % processors.count]])
        }
    }

    /// Ends the processes.
    func stop() {
        close(end)
        for process in processes { process.wait() }
    }
}
