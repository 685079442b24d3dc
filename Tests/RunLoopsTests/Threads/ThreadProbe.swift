import CRunLoops
import Glibc

/// The state of a thread of this process, as the kernel reports it.
struct ThreadProbe: Sendable {
    let number: CInt

    /// The calling thread.
    static var current: ThreadProbe { ThreadProbe(number: runloops_thread_id()) }

    /// True if the thread sleeps in the kernel.
    var isAsleep: Bool { fields.first == "S" }

    /// The processor time of the thread, with a resolution of a hundredth of a second.
    var processorTime: Duration {
        let ticks = fields.count > 12 ? [fields[11], fields[12]].compactMap { Int64($0) }.reduce(0, +) : 0
        return .milliseconds(ticks * 1_000 / Int64(sysconf(CInt(_SC_CLK_TCK))))
    }

    /// The current priority of the thread in the kernel, which is negative if the thread is or blocks a real-time thread.
    var priority: Int? { fields.count > 15 ? Int(fields[15]) : nil }

    /// The fields of the thread's `stat` file, beginning with its state.
    ///
    /// The name, which precedes them, can contain any character.
    private var fields: [Substring] {
        let text = contents(of: "/proc/self/task/\(number)/stat")
        guard let end = text.lastIndex(of: ")") else { return [] }
        return text[text.index(after: end)...].split(separator: " ")
    }
}

/// Returns the contents of a small file of the kernel.
func contents(of path: String) -> String {
    // Safe: the kernel only reads the path, and fills at most the array.
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: 1 << 20)
    var count = 0
    while count < bytes.count {
        let part = unsafe bytes.withUnsafeMutableBytes {
            unsafe read(descriptor, $0.baseAddress! + count, 4_096)
        }
        if part <= 0 { break }
        count += part
    }
    return String(decoding: bytes[..<count], as: UTF8.self)
}
