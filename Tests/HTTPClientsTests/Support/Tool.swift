import Foundation
import Testing

/// A program of another project, which runs to its end or until the test stops it.
struct Tool {
    private let process = Process()
    private let output = Pipe()

    init(_ name: String, _ arguments: [String]) throws {
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = [name] + arguments
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
    }

    func stop() {
        // SIGTERM would have no effect: the program inherits the signal mask of this thread, which blocks it.
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }

    /// Waits for the end of the program, and returns its output.
    func bytes() -> [UInt8] {
        let bytes = [UInt8](output.fileHandleForReading.readDataToEndOfFile())
        process.waitUntilExit()
        return bytes
    }

    static func python(_ program: String) throws -> [UInt8] { try Tool("python3", ["-c", program]).bytes() }
}
