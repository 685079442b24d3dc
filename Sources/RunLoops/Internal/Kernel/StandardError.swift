internal import CLibEvent
internal import Glibc

/// The standard error of the process.
enum StandardError {
    /// Writes a line, and blocks until it is written.
    ///
    /// Call this on a thread that blocks SIGPIPE and has no other purpose.
    ///
    /// - Returns: False if the kernel refuses.
    static func write(_ line: String) -> Bool {
        var rest = Array((line + "\n").utf8)[...]
        while !rest.isEmpty {
            // Safe: the kernel reads our own bytes.
            let written = unsafe rest.withUnsafeBytes { bytes in
                unsafe Glibc.write(STDERR_FILENO, bytes.baseAddress, bytes.count)
            }
            if written > 0 {
                rest = rest.dropFirst(written)
                continue
            }
            if written < 0 && errno == EINTR { continue }
            if written < 0 && errno == EAGAIN && waitForRoom() { continue }
            return false
        }
        return true
    }

    /// Waits until a write would not block.
    ///
    /// This is necessary if a process has set the open file description to non-blocking mode.
    private static func waitForRoom() -> Bool {
        var entry = pollfd(fd: STDERR_FILENO, events: Int16(POLLOUT), revents: 0)
        // Safe: the kernel fills our own value.
        return unsafe poll(&entry, 1, -1) >= 0 || errno == EINTR
    }
}
