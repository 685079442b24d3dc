internal import CLibEvent
internal import Glibc
internal import Synchronization

/// Ends a loop's sleep from any thread: an eventfd that is written, and read only if it is full.
///
/// The loop polls ``descriptor`` edge-triggered: every write is an edge of its own, and one that comes before
/// the poll is kept for it, so there is nothing to read back. The descriptor is closed when the loop's thread ends, or with
/// this value if there never was one. A sender counts itself before it writes, and the end waits for those that are counted:
/// so no sender writes into a descriptor that has become another one's.
///
/// > Thread safety: any thread.
struct Wakeup: ~Copyable, Sendable {
    let descriptor: CInt

    /// How many senders are about to write, and ``ended``.
    private let senders = Atomic<UInt>(0)

    /// Set when the loop's thread ends: no sender writes any more.
    private static let ended: UInt = 1 << 63

    /// Open when no sender is about to write, and none will.
    private let allHaveWritten = ThreadGate()

    init() throws(SystemError) {
        descriptor = try systemCall("eventfd") { eventfd(0, CInt(EFD_CLOEXEC) | CInt(EFD_NONBLOCK)) }
    }

    deinit { if senders.load(ordering: .acquiring) & Wakeup.ended == 0 { close(descriptor) } }

    /// Closes the descriptor when the last sender has written; once, by the thread that ends the loop.
    func end() {
        // One word holds the mark and the count: a sender that is not counted here finds the mark.
        if senders.bitwiseOr(Wakeup.ended, ordering: .acquiringAndReleasing).oldValue != 0 {
            allHaveWritten.wait()
        }
        close(descriptor)
    }

    /// Ends the loop's current sleep, or its next one; of a loop that has ended, does nothing.
    ///
    /// - Parameter beforeWriting: What a test does between the sender's being counted and its write.
    func signal(beforeWriting: () -> Void = {}) {
        // To write is to give a cancelled thread occasion to end. The sender has taken the loop's arming by now, and so no
        // other one would wake it.
        let cancellation = ThreadCancellation.disable()
        defer { cancellation.restore() }
        if senders.add(1, ordering: .acquiring).oldValue & Wakeup.ended == 0 {
            beforeWriting()
            writeAnyhow()
        }
        // Releasing: the write comes before the close.
        if senders.subtract(1, ordering: .releasing).newValue == Wakeup.ended { allHaveWritten.open() }
    }

    private func writeAnyhow() {
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
