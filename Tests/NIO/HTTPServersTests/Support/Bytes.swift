import Foundation
import Glibc
import RunLoops

/// Files for tests.
enum Bytes {
    static func write(_ bytes: [UInt8], to path: String) throws {
        try Data(bytes).write(to: URL(filePath: path))
    }

    static func open(_ path: String) throws -> OwnedDescriptor {
        let descriptor = unsafe Glibc.open(path, O_RDONLY | O_CLOEXEC)
        if descriptor < 0 { throw CocoaError(.fileNoSuchFile) }
        return OwnedDescriptor(descriptor)
    }

    /// The number of descriptors of this process that refer to a file.
    static func openCount(of path: String) -> Int {
        let numbers = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
        return numbers.count { number in
            (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(number)")) == path
        }
    }
}
