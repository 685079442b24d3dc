internal import Glibc

/// Defers the cancellation of the calling thread while it does work that other threads rely on.
///
/// A thread that is cancelled with `pthread_cancel` ends in its next call of a function that can block, even if that call would not
/// block. The thread's `defer` statements do not run, so its work would stay unfinished, and a lock that it holds would stay
/// locked. So cancellation is disabled before such work, and restored after it. If the thread was cancelled meanwhile, it ends in
/// its next call of a function that can block.
///
/// > Thread safety: ``disable()`` and the matching ``restore()`` on one thread. Such pairs can be nested.
package struct ThreadCancellation {
    private let before: CInt

    /// Disables the cancellation of the calling thread.
    ///
    /// - Returns: The previous state, to be restored.
    package static func disable() -> ThreadCancellation {
        var before: CInt = 0
        // Safe: the C library fills our own value.
        unsafe pthread_setcancelstate(CInt(PTHREAD_CANCEL_DISABLE), &before)
        return ThreadCancellation(before: before)
    }

    /// Restores the previous state.
    package func restore() { pthread_setcancelstate(before, nil) }
}
