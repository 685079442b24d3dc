internal import CLibEvent

/// The warnings of libevent.
///
/// By default libevent writes its warnings to standard error, on the loop's thread, and blocks while it cannot write.
enum EventLog {
    /// Makes libevent pass its warnings to the package, which reports them.
    ///
    /// This happens only once, because the callback belongs to the whole process.
    static func takeOver() { _ = isTaken }

    private static let isTaken: Bool = {
        // Safe: the callback reads the string, which is zero-terminated, and keeps no pointer.
        unsafe event_set_log_callback { severity, message in
            guard severity != EVENT_LOG_DEBUG, let message = unsafe message else { return }
            unsafe DiagnosticQueue.report("libevent: \(String(cString: message))")
        }
        return true
    }()
}
