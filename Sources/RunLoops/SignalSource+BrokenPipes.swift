internal import CThreads
internal import Glibc

extension SignalSource {
    /// Ignores `SIGPIPE` in this process, so that a write to a peer that has closed its end fails instead of ending the process.
    ///
    /// The write fails with `EPIPE`, which only its caller sees. Call this once, when the program starts, if it writes to pipes or
    /// sockets by itself or through C libraries. A second call does nothing.
    ///
    /// If the signal has a handler, of a ``SignalSource`` or of other code, nothing is changed: the signal does not end the
    /// process as long as it has the handler.
    ///
    /// Programs that this process starts inherit that the signal is ignored. If that is wrong for one of them, have
    /// `posix_spawn` restore the default, with `posix_spawnattr_setsigdefault`.
    ///
    /// - Returns: True if the signal is ignored from now on; false if it has a handler.
    ///
    /// > Thread safety: any thread.
    @discardableResult
    public static func ignoreBrokenPipes() -> Bool { runloops_signal_ignore(SIGPIPE) }
}
