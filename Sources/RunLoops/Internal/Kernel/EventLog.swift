internal import CLibEvent

/// The warnings of libevent, which it would write to standard error itself, on the loop, and wait until there is room.
enum EventLog {
    /// Has libevent report its warnings as the package reports its own; once, because the callback is the process's.
    static func takeOver() { _ = isTaken }

    private static let isTaken: Bool = {
        // Safe: the callback reads the string, which ends with a zero, and keeps nothing.
        unsafe event_set_log_callback { severity, message in
            guard severity != EVENT_LOG_DEBUG, let message = unsafe message else { return }
            unsafe DiagnosticQueue.report("libevent: \(String(cString: message))")
        }
        return true
    }()
}
