import Foundation

/// A program of this package in a new process.
///
/// The process is killed when this object is destroyed, unless the process has ended.
final class ServerProcess: @unchecked Sendable {
    // Safe because the streams have locks, only the test's thread uses `hasEnded`, and all else is constant.
    let processID: pid_t
    let output: LineStream
    let errors: LineStream
    private var hasEnded = false

    /// Starts a program.
    ///
    /// - Parameters:
    ///   - name: The name of the program.
    ///   - arguments: The arguments of the program.
    ///   - descriptors: The maximum number of descriptors of the program, or nil for no limit.
    ///   - environment: The variables of the program in addition to the variables of the test.
    ///   - input: The standard input of the program, or nil for that of the test.
    ///   - activation: A listening socket that the program gets as from a service manager: as descriptor 3, with its variables.
    /// - Throws: ``Failure`` if the program cannot be started.
    init(
        _ name: String, _ arguments: String..., descriptors: Int? = nil, environment: [String: String] = [:],
        input: String? = nil, activation: CInt? = nil
    ) throws {
        let directory = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
        let path = directory.appending(path: name).path
        var command = [path] + arguments
        if let descriptors {
            command = ["/bin/sh", "-c", "ulimit -n \(descriptors) && exec \"$0\" \"$@\""] + command
        }
        if activation != nil {
            // `exec` keeps the process number, so `$$` is also the number of the program.
            let script = "export LISTEN_PID=$$ LISTEN_FDS=1; exec \"$0\" \"$@\""
            command = ["/bin/sh", "-c", script] + command
        }
        let (outputEnd, errorEnd): (CInt, CInt)
        (output, outputEnd) = try LineStream.make("\(name) output")
        (errors, errorEnd) = try LineStream.make("\(name) errors")
        defer {
            close(outputEnd)
            close(errorEnd)
        }

        var actions = posix_spawn_file_actions_t()
        var attributes = posix_spawnattr_t()
        posix_spawn_file_actions_init(&actions)
        posix_spawnattr_init(&attributes)
        defer {
            posix_spawn_file_actions_destroy(&actions)
            posix_spawnattr_destroy(&attributes)
        }
        posix_spawn_file_actions_adddup2(&actions, outputEnd, STDOUT_FILENO)
        posix_spawn_file_actions_adddup2(&actions, errorEnd, STDERR_FILENO)
        if let activation { posix_spawn_file_actions_adddup2(&actions, activation, 3) }
        let inputEnd = try input.map(ServerProcess.inputEnd)
        defer { if let inputEnd { close(inputEnd) } }
        if let inputEnd { posix_spawn_file_actions_adddup2(&actions, inputEnd, STDIN_FILENO) }
        // Inherited descriptors of the tests must not count towards the program's limit.
        for descriptor in 3..<CInt(256) { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
        // The threads that tests run on block signals, and the program must not inherit the blocked signals.
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
        let variables = ProcessInfo.processInfo.environment.merging(environment) { $1 }.map { "\($0)=\($1)" }
        var words = command.map { strdup($0) } + [nil]
        var strings = variables.map { strdup($0) } + [nil]
        defer { (words + strings).forEach { free($0) } }
        var started: pid_t = 0
        let code = posix_spawn(&started, command[0], &actions, &attributes, &words, &strings)
        if code != 0 { throw Failure("posix_spawn \(path): \(code)") }
        processID = started
    }

    /// Makes a pipe that contains a short text, and returns its reading end.
    private static func inputEnd(_ text: String) throws -> CInt {
        var ends: [CInt] = [0, 0]
        if pipe(&ends) != 0 { throw Failure(call: "pipe") }
        let bytes = Array(text.utf8)
        let count = write(ends[1], bytes, bytes.count)
        close(ends[1])
        if count != bytes.count { throw Failure("the text does not fit in a pipe") }
        return ends[0]
    }

    deinit {
        if hasEnded { return }
        kill(processID, SIGKILL)
        waitpid(processID, nil, 0)
    }

    /// Waits until the program prints that it listens.
    ///
    /// - Returns: The port.
    func port() throws -> UInt16 {
        let line: String
        do { line = try output.line { $0.contains("listening at") } } catch {
            throw Failure("it does not listen: \(errors.all)")
        }
        guard let colon = line.lastIndex(of: ":"), let port = UInt16(line[line.index(after: colon)...]) else {
            throw Failure("no port: \(line)")
        }
        return port
    }

    func signal(_ signal: CInt) { kill(processID, signal) }

    /// Stops the program with `SIGSTOP`, and waits until all its threads are stopped.
    func suspend() throws {
        kill(processID, SIGSTOP)
        var status: CInt = 0
        if waitpid(processID, &status, WUNTRACED) != processID || status & 0xff != 0x7f {
            throw Failure("process \(processID) was not stopped: \(status)")
        }
    }

    /// Waits until the program has ended.
    ///
    /// - Returns: The exit code, or minus the signal if a signal has ended the program.
    func end() throws -> CInt {
        var status: CInt = 0
        try wait(until: "process \(processID) ends") { waitpid(processID, &status, WNOHANG) == processID }
        hasEnded = true
        return status & 0x7f == 0 ? status >> 8 & 0xff : -(status & 0x7f)
    }

    /// The number of open descriptors of the program.
    func descriptorCount() throws -> Int {
        try FileManager.default.contentsOfDirectory(atPath: "/proc/\(processID)/fd").count
    }

    /// A value of `/proc/PID/status` in KiB, such as `VmRSS`.
    func memory(_ field: String) throws -> Int {
        let status = try String(contentsOfFile: "/proc/\(processID)/status", encoding: .utf8)
        for line in status.split(separator: "\n") where line.hasPrefix("\(field):") {
            if let number = Int(line.filter(\.isNumber)) { return number }
        }
        throw Failure("no \(field) in the status of \(processID)")
    }
}

/// The lines that a process writes, which a thread of the test reads.
final class LineStream: @unchecked Sendable {
    // Safe because the condition guards both variables.
    private let condition = NSCondition()
    private var lines: [String] = []
    private var isAtEnd = false

    /// Makes a stream.
    ///
    /// - Returns: The stream, and the descriptor to which a process writes.
    static func make(_ name: String) throws -> (LineStream, CInt) {
        var ends: [CInt] = [0, 0]
        if pipe(&ends) != 0 { throw Failure(call: "pipe") }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        let stream = LineStream()
        let readingEnd = ends[0]
        let thread = Thread { stream.read(readingEnd) }
        thread.name = name
        thread.start()
        return (stream, ends[1])
    }

    private func read(_ descriptor: CInt) {
        var rest: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = Glibc.read(descriptor, &buffer, buffer.count)
            if count < 0 && errno == EINTR { continue }
            if count <= 0 { break }
            rest += buffer[..<count]
            var parts = rest.split(separator: 10, omittingEmptySubsequences: false)
            rest = Array(parts.removeLast())
            condition.withLock {
                lines += parts.map { String(decoding: $0, as: UTF8.self) }
                condition.broadcast()
            }
        }
        close(descriptor)
        condition.withLock {
            isAtEnd = true
            condition.broadcast()
        }
    }

    /// All lines so far.
    var all: [String] { condition.withLock { lines } }

    /// Waits for a line.
    ///
    /// - Parameter isWanted: Returns true for the line to wait for.
    /// - Returns: The first such line.
    /// - Throws: ``Failure`` if the line does not arrive.
    func line(_ isWanted: (String) -> Bool) throws -> String {
        let limit = Date(timeIntervalSinceNow: 30)
        condition.lock()
        defer { condition.unlock() }
        while true {
            if let line = lines.first(where: isWanted) { return line }
            if isAtEnd || !condition.wait(until: limit) {
                let end = isAtEnd ? " before the end" : ""
                throw Failure("no such line\(end): \(lines.suffix(10))")
            }
        }
    }
}
