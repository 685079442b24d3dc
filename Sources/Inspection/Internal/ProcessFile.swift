internal import Glibc
internal import RunLoops

/// Reads the files in which the kernel describes processes.
enum ProcessFile {
    /// The name of this program, up to 15 bytes.
    static var programName: String {
        var name = text(of: "/proc/self/comm") ?? ""
        if name.last == "\n" { name.removeLast() }
        return name
    }

    /// The system's ID of this process.
    static var processID: Int32 { getpid() }

    /// The effective user of this process.
    static var userID: UInt32 { geteuid() }

    /// Returns the user of a process; nil if there is no such process, or the kernel does not say.
    static func owner(of process: Int32) -> UInt32? {
        var status = stat()
        // Safe: the kernel fills `status`, which is ours.
        return unsafe stat("/proc/\(process)", &status) == 0 ? status.st_uid : nil
    }

    /// Returns true if there is a process with this ID.
    static func exists(_ process: Int32) -> Bool { process > 0 && (kill(process, 0) == 0 || errno != ESRCH) }

    /// Returns the contents of a file; nil if it cannot be opened.
    static func text(of path: String) -> String? {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
        if descriptor < 0 { return nil }
        let file = OwnedDescriptor(descriptor)
        var text: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            // Safe: the kernel writes into `buffer`, and at most its size.
            let count = unsafe read(file.descriptor, &buffer, buffer.count)
            if count < 0 && errno == EINTR { continue }
            if count <= 0 { break }
            text += buffer.prefix(count)
        }
        return String(decoding: text, as: UTF8.self)
    }
}
