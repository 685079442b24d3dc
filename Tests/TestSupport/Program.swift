internal import Foundation
internal import Glibc
internal import RunLoops

/// A program of this package that a test runs as a process of its own, with its output and its end.
///
/// Programs are for tests of the main thread, because the testing library owns the tests' own main thread.
public struct Program: Sendable {
    private let path: String

    /// The end of a program, with its output.
    public struct Ending: Sendable {
        /// The lines of the standard output.
        public let lines: [String]
        /// The text of the standard error.
        public let message: String
        /// The exit code, or nil if a signal has ended the program.
        public let code: CInt?
        /// True if the program was ended because it ran beyond the deadline.
        public let hung: Bool

        /// True if the program exited with 0.
        public var isSuccess: Bool { code == 0 && !hung }
    }

    /// Finds a program that is built with the tests.
    ///
    /// - Parameter name: The name of the program's target.
    public init(_ name: String) {
        let tests = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
        path = tests.deletingLastPathComponent().appending(path: name).path
    }

    /// Names a program of the system.
    ///
    /// - Parameter path: The path of the program.
    public init(path: String) { self.path = path }

    /// Runs the program, and waits for its end.
    ///
    /// - Parameters:
    ///   - arguments: The arguments of the program.
    ///   - seconds: The time after which the program counts as hung.
    /// - Returns: The end of the program.
    /// - Throws: `SystemError` if the program cannot be started.
    public func run(_ arguments: String..., seconds: Int64 = 300) throws -> Ending {
        try run(list: arguments, seconds: seconds)
    }

    /// Runs the program, and waits for its end.
    ///
    /// - Parameters:
    ///   - arguments: The arguments of the program.
    ///   - seconds: The time after which the program counts as hung.
    /// - Returns: The end of the program.
    /// - Throws: `SystemError` if the program cannot be started.
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
        // Safe: the kernel fills a local variable.
        while unsafe waitpid(process, &status, 0) == -1 && errno == EINTR {}
        return Ending(
            lines: written.text.split(separator: "\n").map(String.init), message: complained.text,
            code: status & 0x7f == 0 ? status >> 8 & 0xff : nil, hung: hung)
    }

    /// Calls a closure while the program runs, as soon as the program has written a line.
    ///
    /// The program must end at the end of its input, which is closed after the closure.
    ///
    /// - Parameters:
    ///   - arguments: The arguments of the program.
    ///   - body: Called with the ID of the process, and the first line.
    /// - Returns: The result of the closure.
    /// - Throws: The error of the closure, or `SystemError` if the program cannot be started.
    public func whileRunning<Result>(
        _ arguments: String..., body: (Int32, String) throws -> Result
    ) throws -> Result {
        let wire = try Wire.sockets()
        let process = try start(arguments, wire.far, STDERR_FILENO, input: wire.far)
        wire.close(wire.far)
        defer {
            wire.close()
            var status: CInt = 0
            // Safe: the kernel fills a local variable.
            while unsafe waitpid(process, &status, 0) == -1 && errno == EINTR {}
        }
        var output = Stream(wire.near)
        while output.isOpen && !output.text.contains("\n") { output.read() }
        return try body(process, output.text)
    }

    private func start(
        _ arguments: [String], _ output: CInt, _ errors: CInt, input: CInt? = nil
    ) throws -> pid_t {
        var actions = unsafe posix_spawn_file_actions_t()
        // Safe, this and the next calls: the actions are local, and the strings live until the process is started.
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        if let input { unsafe posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO) }
        unsafe posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO)
        unsafe posix_spawn_file_actions_adddup2(&actions, errors, STDERR_FILENO)
        var environment = ProcessInfo.processInfo.environment.map { "\($0)=\($1)" }
        // A program that ends itself on purpose needs no backtrace, which takes several seconds.
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

/// The bytes of one of a process's output streams.
private struct Stream {
    private let end: CInt
    private var bytes: [UInt8] = []
    /// True if further bytes can arrive.
    private(set) var isOpen = true

    init(_ end: CInt) { self.end = end }

    var text: String { String(decoding: bytes, as: UTF8.self) }

    /// Waits a little, and reads the available bytes.
    mutating func read() {
        var entry = pollfd(fd: end, events: Int16(POLLIN), revents: 0)
        // Safe, both: the kernel fills a local variable and a local array.
        if !isOpen { return }
        if unsafe poll(&entry, 1, 10) < 1 { return }
        var part = [UInt8](repeating: 0, count: 4_096)
        let count = unsafe Glibc.read(end, &part, part.count)
        if count > 0 { bytes += part.prefix(count) } else if count == 0 { isOpen = false }
    }
}
