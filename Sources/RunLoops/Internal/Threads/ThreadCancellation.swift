internal import Glibc

/// Defers the cancellation of the calling thread while it does work that other threads rely on.
///
/// A cancelled thread ends in its next call of a function that can block, even if the call would not block, and without running
/// `defer` statements. Its unfinished work would stay unfinished, and a lock that it holds would stay locked. So cancellation is
/// disabled before such work and restored after the work: the thread ends at the next such call after that.
///
/// > Thread safety: both calls on one thread, in pairs, which can be nested.
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
