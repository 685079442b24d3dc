import Glibc
import RunLoops

/// A file to which whole lines are appended.
struct Journal: Sendable {
    private let descriptor: CInt

    init(_ path: String) throws {
        // Safe: the kernel reads the string.
        let opened = unsafe open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        if opened < 0 { throw SystemError(call: "open", code: errno) }
        descriptor = opened
    }

    func write(_ line: String) {
        let bytes = Array((line + "\n").utf8)
        // Safe: the kernel reads a local array.
        _ = unsafe Glibc.write(descriptor, bytes, bytes.count)
    }
}
