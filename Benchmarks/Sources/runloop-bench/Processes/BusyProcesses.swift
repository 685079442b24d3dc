internal import Glibc

/// Processes that want a processor all the time.
final class BusyProcesses {
    private let processes: [OtherProcess]
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
        if pipe2(&ends, O_CLOEXEC) != 0 { throw OtherProcess.Failure(code: errno) }
        defer { close(ends[0]) }
        end = ends[1]
        do {
            processes = try (0..<count).map { _ in try OtherProcess(["burn"], end: ends[0]) }
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
