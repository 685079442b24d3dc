internal import CLibEvent
internal import Glibc

/// Ends a loop's sleep from any thread: an eventfd that is written, and read only if it is full.
///
/// The loop polls ``descriptor`` edge-triggered: every write is an edge of its own, and one that comes before
/// the poll is kept for it, so there is nothing to read back. The descriptor is closed with the loop
/// object, not with its thread: a sender that writes holds the object, so it never writes into a descriptor
/// that has become somebody else's.
///
/// > Thread safety: any thread.
struct Wakeup: ~Copyable, Sendable {
    let descriptor: CInt

    init() throws(SystemError) {
        descriptor = try systemCall("eventfd") { eventfd(0, CInt(EFD_CLOEXEC) | CInt(EFD_NONBLOCK)) }
    }

    deinit { close(descriptor) }

    /// Ends the loop's current sleep, or its next one.
    func signal() {
        // To write is to give a cancelled thread occasion to end. The sender has taken the loop's arming by now, and so nobody
        // else would wake it.
        let cancelling = Cancelling.putOff()
        defer { cancelling.goOn() }
        if write() { return }
        if errno == EAGAIN {
            // Full: after 2⁶⁴ − 1 writes, or by other code's. Emptied, by us or by another sender, it takes the next one,
            // which is an edge again.
            var count: eventfd_t = 0
            // Safe: the kernel fills our own value.
            _ = unsafe eventfd_read(descriptor, &count)
            if write() { return }
        }
        fatalError("RunLoop: the descriptor that wakes a loop was closed by other code (errno \(errno))")
    }

    private func write() -> Bool {
        while eventfd_write(descriptor, 1) != 0 { if errno != EINTR { return false } }
        return true
    }
}
