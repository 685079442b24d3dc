internal import Glibc

/// This program once more, as the process at the other end.
///
/// It serves on its main thread, and ends when this end is gone.
final class ChildProcess {
    private let processID: pid_t

    /// What it is given as descriptor, if anything.
    static let descriptor: CInt = 3

    /// The program could not be started.
    struct Failure: Error {
        let code: CInt
    }

    /// Starts the process.
    ///
    /// - Parameters:
    ///   - arguments: The sub-command, and what it needs.
    ///   - end: What it has as ``descriptor``.
    /// - Throws: What the system said.
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

    /// Its main thread, which has the number of the process.
    var number: ThreadNumber { processID }

    /// Waits for its end.
    func wait() {
        var status: CInt = 0
        while waitpid(processID, &status, 0) == -1 && errno == EINTR {}
    }
}

/// Processes that want a processor all the time.
final class BusyProcesses {
    private let processes: [ChildProcess]
    /// The end of a pipe that all of them look at: they end when it is closed.
    private let end: CInt

    /// Starts the processes, in turn on each of the processors.
    ///
    /// - Parameters:
    ///   - count: How many.
    ///   - processors: The processors, of which each process has one.
    /// - Throws: The refusal of the system.
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

    /// Ends them.
    func stop() {
        close(end)
        for process in processes { process.wait() }
    }
}
