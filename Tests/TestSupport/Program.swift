internal import Foundation
internal import Glibc
internal import RunLoops

/// A program of this package that a test runs as a process of its own, and judges by what it writes and how it ends.
///
/// For what only the main thread can do: the tests' own main thread belongs to the testing library.
public struct Program: Sendable {
    private let path: String

    /// The end of a program.
    public struct Ending: Sendable {
        /// The lines of its standard output.
        public let lines: [String]
        /// The text that it wrote to its standard error.
        public let message: String
        /// Its exit code; nil if a signal ended it.
        public let code: CInt?
        /// True if it ran beyond the deadline, and was ended.
        public let hung: Bool

        /// True if it exited with 0.
        public var isSuccess: Bool { code == 0 && !hung }
    }

    /// A program that is built with the tests.
    ///
    /// - Parameter name: The name of its target.
    public init(_ name: String) {
        let tests = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
        path = tests.deletingLastPathComponent().appending(path: name).path
    }

    /// A program of the system.
    ///
    /// - Parameter path: The path.
    public init(path: String) { self.path = path }

    /// Runs the program, and waits for its end.
    ///
    /// - Parameters:
    ///   - arguments: Its arguments.
    ///   - seconds: After how long it is taken to hang.
    /// - Returns: Its end.
    /// - Throws: `SystemError` if it cannot be started.
    public func run(_ arguments: String..., seconds: Int64 = 300) throws -> Ending {
        try run(list: arguments, seconds: seconds)
    }

    /// Runs the program, and waits for its end.
    ///
    /// - Parameters:
    ///   - arguments: Its arguments.
    ///   - seconds: After how long it is taken to hang.
    /// - Returns: Its end.
    /// - Throws: `SystemError` if it cannot be started.
    public func run(list arguments: [String], seconds: Int64 = 300) throws -> Ending {
        let output = try Wire.sockets()
        let errors = try Wire.sockets()
        defer {
            output.close()
            errors.close()
        }
        let process = try start(arguments, output.far, errors.far)
        output.close(output.far)
        errors.close(errors.far)

        let deadline = ContinuousClock.now + .seconds(seconds)
        var written = Stream(output.near)
        var complained = Stream(errors.near)
        while written.isOpen || complained.isOpen, ContinuousClock.now < deadline {
            written.read()
            complained.read()
        }
        let hung = written.isOpen || complained.isOpen
        if hung { kill(process, SIGKILL) }
        var status: CInt = 0
        // Safe: the kernel fills our own value.
        while unsafe waitpid(process, &status, 0) == -1 && errno == EINTR {}
        return Ending(
            lines: written.text.split(separator: "\n").map(String.init), message: complained.text,
            code: status & 0x7f == 0 ? status >> 8 & 0xff : nil, hung: hung)
    }

    /// Runs the program while a body runs, which begins when the program has written a line.
    ///
    /// The program is expected to end when its input does, which is after the body.
    ///
    /// - Parameters:
    ///   - arguments: Its arguments.
    ///   - body: Called with the process's ID, and the first line.
    /// - Returns: The result of the body.
    /// - Throws: The error of the body, or `SystemError` if the program cannot be started.
    public func whileRunning<Result>(
        _ arguments: String..., body: (Int32, String) throws -> Result
    ) throws -> Result {
        let wire = try Wire.sockets()
        let process = try start(arguments, wire.far, STDERR_FILENO, input: wire.far)
        wire.close(wire.far)
        defer {
            wire.close()
            var status: CInt = 0
            // Safe: the kernel fills our own value.
            while unsafe waitpid(process, &status, 0) == -1 && errno == EINTR {}
        }
        var output = Stream(wire.near)
        while output.isOpen && !output.text.contains("\n") { output.read() }
        return try body(process, output.text)
    }

    /// Starts the process.
    private func start(
        _ arguments: [String], _ output: CInt, _ errors: CInt, input: CInt? = nil
    ) throws -> pid_t {
        var actions = unsafe posix_spawn_file_actions_t()
        // Safe, this and the next calls: the actions are our own, and the strings live until the process is started.
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        if let input { unsafe posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO) }
        unsafe posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO)
        unsafe posix_spawn_file_actions_adddup2(&actions, errors, STDERR_FILENO)
        var environment = ProcessInfo.processInfo.environment.map { "\($0)=\($1)" }
        // A program that ends itself on purpose needs no backtrace, which takes seconds.
        environment.append("SWIFT_BACKTRACE=enable=no")
        var words = unsafe ([path] + arguments).map { unsafe strdup($0) } + [nil]
        var variables = unsafe environment.map { unsafe strdup($0) } + [nil]
        defer { unsafe (words + variables).forEach { unsafe free($0) } }
        var process: pid_t = 0
        let code = unsafe posix_spawn(&process, path, &actions, nil, &words, &variables)
        if code != 0 { throw SystemError(call: "posix_spawn \(path)", code: code) }
        return process
    }
}

/// The bytes that a process writes to one of its outputs.
private struct Stream {
    private let end: CInt
    private var bytes: [UInt8] = []
    /// True if more may come.
    private(set) var isOpen = true

    init(_ end: CInt) { self.end = end }

    var text: String { String(decoding: bytes, as: UTF8.self) }

    /// Takes what there is, and waits a little for it.
    mutating func read() {
        var entry = pollfd(fd: end, events: Int16(POLLIN), revents: 0)
        // Safe, both: the kernel fills our own value and our own array.
        if !isOpen { return }
        if unsafe poll(&entry, 1, 10) < 1 { return }
        var part = [UInt8](repeating: 0, count: 4_096)
        let count = unsafe Glibc.read(end, &part, part.count)
        if count > 0 { bytes += part.prefix(count) } else if count == 0 { isOpen = false }
    }
}
