internal import CLibEvent

/// The redirection of libevent's warnings to the package's reports.
///
/// By default, libevent writes its warnings to standard error on the loop's thread, which blocks while standard error is full.
enum EventLog {
    /// Makes libevent pass its warnings to the package, which reports them.
    ///
    /// Only the first call has an effect, because the callback is for the whole process.
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
