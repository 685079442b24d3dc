import Foundation
import Glibc
import TestSupport

/// A program of another project, which runs to its end or until the test stops it.
final class Tool {
    private let process = Process()
    private let input = Pipe()
    private let output = Pipe()

    /// Starts a program, whose standard error is part of its output if `takesErrors` is true.
    init(
        _ name: String, _ arguments: [String], takesErrors: Bool = false, in directory: String? = nil
    ) throws {
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = [name] + arguments
        if let directory { process.currentDirectoryURL = URL(filePath: directory) }
        process.standardInput = input
        process.standardOutput = output
        process.standardError = takesErrors ? output : FileHandle.nullDevice
        try process.run()
    }

    func write(_ text: String) { input.fileHandleForWriting.write(Data(text.utf8)) }

    func endInput() { try? input.fileHandleForWriting.close() }

    var isRunning: Bool { process.isRunning }

    /// The exit code of the program, which must have ended.
    var exitCode: Int32 { process.terminationStatus }

    func stop() {
        // SIGTERM would have no effect: the program inherits the signal mask of this thread, which blocks it.
        if process.isRunning { kill(process.processIdentifier, SIGKILL) }
        process.waitUntilExit()
    }

    /// Waits for the end of the program, and returns its output.
    func bytes() -> [UInt8] {
        let bytes = [UInt8](output.fileHandleForReading.readDataToEndOfFile())
        process.waitUntilExit()
        return bytes
    }

    /// Returns the output since the last call.
    func written() -> String {
        let descriptor = output.fileHandleForReading.fileDescriptor
        _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
        defer { _ = fcntl(descriptor, F_SETFL, 0) }
        var part = [UInt8](repeating: 0, count: 65_536)
        // Safe: the kernel fills a local array.
        let count = unsafe read(descriptor, &part, part.count)
        return String(decoding: part.prefix(max(0, count)), as: UTF8.self)
    }
}

/// The contents of files.
enum Files {
    static func read(_ path: String) throws -> [UInt8] {
        try [UInt8](Data(contentsOf: URL(filePath: path)))
    }

    static func write(_ bytes: [UInt8], to path: String) throws {
        try Data(bytes).write(to: URL(filePath: path))
    }
}
