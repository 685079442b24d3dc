internal import CRunLoops
internal import Glibc

extension SignalSource {
    /// Ignores `SIGPIPE` in this process, so that a write to a closed pipe or socket does not end the process.
    ///
    /// If the peer has closed its end, only the write fails, with `EPIPE`. If the program writes to pipes or sockets, directly or
    /// through C libraries, call this once when the program starts. A second call does nothing.
    ///
    /// If the signal has a handler, of a ``SignalSource`` or of other code, the call changes nothing. As long as that handler is
    /// set, the signal does not end the process.
    ///
    /// Programs that this process starts inherit the ignored signal. If a program needs the default action, restore it with
    /// `posix_spawnattr_setsigdefault` when you call `posix_spawn`.
    ///
    /// - Returns: True if the signal is ignored from now on; false if it has a handler.
    ///
    /// > Thread safety: any thread.
    @discardableResult
    public static func ignoreBrokenPipes() -> Bool { runloops_signal_ignore(SIGPIPE) }
}
