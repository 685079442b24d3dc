internal import Glibc

/// Puts off that other code cancels the calling thread, while it does what other threads rely on.
///
/// A cancelled thread leaves its stack in the next call that may block, also in one that does not, and without doing what
/// `defer` says. What it had taken upon itself would stay undone, and a lock that it has would stay taken. So it is put off
/// from before that to when it is done: the thread ends at the next such call after it.
///
/// > Thread safety: both on one thread, in pairs, which may lie one inside the other.
package struct ThreadCancellation {
    private let before: CInt

    /// Puts it off.
    ///
    /// - Returns: What goes on with it.
    package static func disable() -> ThreadCancellation {
        var before: CInt = 0
        // Safe: the C library fills our own value.
        unsafe pthread_setcancelstate(CInt(PTHREAD_CANCEL_DISABLE), &before)
        return ThreadCancellation(before: before)
    }

    /// As it was before.
    package func restore() { pthread_setcancelstate(before, nil) }
}
