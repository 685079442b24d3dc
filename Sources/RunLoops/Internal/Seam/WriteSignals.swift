internal import CLibEvent
internal import Glibc

/// Calls that write to a descriptor which the caller of the library owns.
///
/// A write to a pipe or socket without a reader raises SIGPIPE, and a write beyond the limit on the size of files raises SIGXFSZ. By
/// default, these signals end the process. The kernel sends them to the thread that writes, so a thread that blocks them gets an
/// error instead.
package enum WriteSignals {
    /// Calls a closure during which a write raises no signal.
    ///
    /// Signals that had been sent to the thread or the process before are still delivered afterwards.
    ///
    /// - Parameter body: The closure, which does not wait for signals.
    /// - Returns: The result of the closure.
    /// - Throws: The error of the closure.
    package static func hold<Result: ~Copyable, Failure: Error>(
        _ body: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        var held = sigset_t()
        var before = sigset_t()
        var pending = sigset_t()
        // Safe, here and below: the sets are local values, which the functions read or fill.
        unsafe sigemptyset(&held)
        unsafe sigaddset(&held, SIGPIPE)
        unsafe sigaddset(&held, SIGXFSZ)
        unsafe sigpending(&pending)
        unsafe pthread_sigmask(SIG_BLOCK, &held, &before)
        defer {
            let code = errno
            // A signal that was pending already is not one of `body`, or cannot be told from one.
            for signal in [SIGPIPE, SIGXFSZ] where unsafe sigismember(&pending, signal) == 0 {
                runloops_take_signal(signal)
            }
            unsafe pthread_sigmask(SIG_SETMASK, &before, nil)
            errno = code
        }
        return try body()
    }
}
