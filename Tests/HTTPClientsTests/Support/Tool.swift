import Foundation
import Testing

/// A program that others wrote, run to its end or until the test is done with it.
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
        // The program inherits that this thread blocks SIGTERM.
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }

    /// Waits for the end, and takes what was written.
    func bytes() -> [UInt8] {
        let bytes = [UInt8](output.fileHandleForReading.readDataToEndOfFile())
        process.waitUntilExit()
        return bytes
    }

    static func python(_ program: String) throws -> [UInt8] { try Tool("python3", ["-c", program]).bytes() }
}
